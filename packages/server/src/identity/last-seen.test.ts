import { expect, it } from 'vitest';
import { latestDay } from './last-seen.ts';

it('finds the latest day, even if there are more days than a function call can have arguments', () => {
  const days = Array.from({ length: 500_000 }, (_, day) => day);
  expect(() => Math.max(...days)).toThrow(RangeError);
  expect(latestDay(days, 0)).toBe(499_999);
  expect(latestDay([], -1)).toBe(-1);
});
