import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import { createProgress } from './steps.ts';

interface FunnelEvent {
  readonly unit: number;
  readonly time: number;
  readonly meets: number;
}

const steps = 3;
const within = 5;

/** Returns the maximum number of steps that a unit completes, found by trying every choice of one event per step. */
const countSteps = (events: readonly FunnelEvent[]): number => {
  const search = (step: number, from: number, start: number): number => {
    let best = step;
    for (let index = from; index < events.length; index += 1) {
      const { time, meets } = events[index] as FunnelEvent;
      if ((meets & (1 << step)) === 0 || time - start > within) continue;
      best = Math.max(best, search(step + 1, index + 1, step === 0 ? time : start));
    }
    return best;
  };
  return search(0, 0, Number.POSITIVE_INFINITY);
};

const funnelEvent = fc.record({
  unit: fc.integer({ min: -3, max: 3 }),
  after: fc.nat({ max: 3 }),
  meets: fc.integer({ min: 1, max: 2 ** steps - 1 }),
});

test('finds the maximum number of steps that any choice of events completes', () => {
  fc.assert(
    fc.property(fc.array(funnelEvent, { maxLength: 30 }), (list) => {
      let time = 0;
      const events = list.map(({ unit, after, meets }) => {
        time += after;
        return { unit, time, meets };
      });
      const progress = createProgress(steps, within, { lowest: -3, highest: 3 });
      for (const { unit, time: at, meets } of events) progress.addEvent(unit, unit, at, meets);
      const reached = [...new Set(events.map(({ unit }) => unit))].map((unit) =>
        countSteps(events.filter((each) => each.unit === unit)),
      );
      expect(progress.counts()).toEqual(
        Array.from({ length: steps }, (_, step) => reached.filter((count) => count > step).length),
      );
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('does not count units whose events are out of order or belong to two people', () => {
  const progress = createProgress(2, within, { lowest: 1, highest: 3 });
  for (const [unit, person, time] of [
    [1, 1, 1],
    [2, 2, 1],
    [3, 3, 1],
    [2, 2, 0],
    [3, 4, 2],
  ] as const)
    progress.addEvent(unit, person, time, 1);
  expect([...progress.irregular]).toEqual([2, 3]);
  expect(progress.counts()).toEqual([1, 0]);
});
