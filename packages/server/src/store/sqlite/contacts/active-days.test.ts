import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ActiveDays, isActive, noDays, withDay } from './active-days.ts';

const daysOf = (active: ActiveDays, from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, nth) => from + nth).filter((day) => isActive(active, day));

test('lists no days until one is added', () => {
  expect(daysOf(noDays, -10, 10)).toEqual([]);
});

test('is exact for the last 52 days and lists all earlier days', () => {
  const steps = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 40, max: 60 })), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (steps) => {
      let day = 20_000;
      let active = withDay(noDays, day);
      const added = new Set([day]);
      for (const step of steps) {
        day += step;
        added.add(day);
        active = withDay(active, day);
        expect(Number.isSafeInteger(active.days)).toBe(true);
      }
      for (let each = 20_000; each <= day; each += 1) {
        expect(isActive(active, each), `day ${each} of ${[...added]}`).toBe(added.has(each) || day - each >= 52);
      }
      expect([19_999, day + 1].filter((each) => isActive(active, each))).toEqual([]);
    }),
  );
});

test('lists all days of a row from before days were recorded', () => {
  let active: ActiveDays = { firstDay: 100, lastDay: 110, days: 0 };
  expect(daysOf(active, 90, 120)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
  active = withDay(active, 113);
  expect(daysOf(active, 90, 120)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 113]);
});

test('lists no recent days after the clock was briefly years ahead', () => {
  const active = withDay(withDay(withDay(noDays, 100), 20_000), 20_001);
  expect(daysOf(active, 19_960, 20_010)).toEqual([20_000, 20_001]);
  expect(isActive(active, 100)).toBe(true);
});

test('lists all days once a day is added that precedes the last one, as happens when the clock is set back manually', () => {
  const active = withDay(withDay(withDay(noDays, 100), 110), 108);
  expect(daysOf(active, 95, 115)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
  expect(daysOf(withDay(active, 98), 95, 115)).toHaveLength(13);
});

test('does not change when the same day is added again', () => {
  const active = withDay(withDay(noDays, 100), 103);
  expect(withDay(active, 103)).toEqual(active);
  const unrecorded = { firstDay: 100, lastDay: 103, days: 0 };
  expect(withDay(unrecorded, 103)).toEqual(unrecorded);
});
