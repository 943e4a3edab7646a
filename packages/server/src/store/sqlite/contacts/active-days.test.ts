import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ActiveDays, isActive, noDays, withDay } from './active-days.ts';

const daysOf = (active: ActiveDays, from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, nth) => from + nth).filter((day) => isActive(active, day));

test('before the first day there is none', () => {
  expect(daysOf(noDays, -10, 10)).toEqual([]);
});

test('each of the last 52 days is told, and of those before them that they may be', () => {
  const steps = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 40, max: 60 })), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (steps) => {
      let day = 20_000;
      let active = withDay(noDays, day);
      const met = new Set([day]);
      for (const step of steps) {
        day += step;
        met.add(day);
        active = withDay(active, day);
        expect(Number.isSafeInteger(active.days)).toBe(true);
      }
      for (let each = 20_000; each <= day; each += 1) {
        expect(isActive(active, each), `day ${each} of ${[...met]}`).toBe(met.has(each) || day - each >= 52);
      }
      expect([19_999, day + 1].filter((each) => isActive(active, each))).toEqual([]);
    }),
  );
});

test('of a row from before days were told, any may be one, until they are long ago', () => {
  let active: ActiveDays = { firstDay: 100, lastDay: 110, days: 0 };
  expect(daysOf(active, 90, 120)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
  active = withDay(active, 113);
  expect(daysOf(active, 90, 120)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 113]);
});

test('a clock that is years ahead for a moment makes no day of what was before', () => {
  const active = withDay(withDay(withDay(noDays, 100), 20_000), 20_001);
  expect(daysOf(active, 19_960, 20_010)).toEqual([20_000, 20_001]);
  expect(isActive(active, 100)).toBe(true);
});

test('a day before the last, where days were set back by hand, makes any day one', () => {
  const active = withDay(withDay(withDay(noDays, 100), 110), 108);
  expect(daysOf(active, 95, 115)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
  expect(daysOf(withDay(active, 98), 95, 115)).toHaveLength(13);
});

test('the same day again changes nothing', () => {
  const active = withDay(withDay(noDays, 100), 103);
  expect(withDay(active, 103)).toEqual(active);
  const untold = { firstDay: 100, lastDay: 103, days: 0 };
  expect(withDay(untold, 103)).toEqual(untold);
});
