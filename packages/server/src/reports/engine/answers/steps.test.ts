import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import { createProgress } from './steps.ts';

interface Told {
  readonly unit: number;
  readonly time: number;
  readonly meets: number;
}

const steps = 3;
const within = 5;

/** How many steps a unit went through at most: every choice of one event for each step is tried. */
const reachedBy = (events: readonly Told[]): number => {
  const furthest = (step: number, from: number, begun: number): number => {
    let most = step;
    for (let index = from; index < events.length; index += 1) {
      const { time, meets } = events[index] as Told;
      if ((meets & (1 << step)) === 0 || time - begun > within) continue;
      most = Math.max(most, furthest(step + 1, index + 1, step === 0 ? time : begun));
    }
    return most;
  };
  return furthest(0, 0, Number.POSITIVE_INFINITY);
};

const told = fc.record({
  unit: fc.integer({ min: -3, max: 3 }),
  after: fc.nat({ max: 3 }),
  meets: fc.integer({ min: 1, max: 2 ** steps - 1 }),
});

test('units come as far as the best choice of their events', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 30 }), (list) => {
      let time = 0;
      const events = list.map(({ unit, after, meets }) => {
        time += after;
        return { unit, time, meets };
      });
      const progress = createProgress(steps, within, { lowest: -3, greatest: 3 });
      for (const { unit, time: at, meets } of events) progress.tell(unit, unit, at, meets);
      const reached = [...new Set(events.map(({ unit }) => unit))].map((unit) =>
        reachedBy(events.filter((each) => each.unit === unit)),
      );
      expect(progress.counts()).toEqual(
        Array.from({ length: steps }, (_, step) => reached.filter((most) => most > step).length),
      );
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('units whose events are out of order, or of two people, are not counted', () => {
  const progress = createProgress(2, within, { lowest: 1, greatest: 3 });
  for (const [unit, person, time] of [
    [1, 1, 1],
    [2, 2, 1],
    [3, 3, 1],
    [2, 2, 0],
    [3, 4, 2],
  ] as const)
    progress.tell(unit, person, time, 1);
  expect([...progress.irregular]).toEqual([2, 3]);
  expect(progress.counts()).toEqual([1, 0]);
});
