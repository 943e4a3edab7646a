import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime } from './iso-time.ts';

const maxTime = 8.64e15;

test('formats times like Date, in any order', () => {
  const anyTime = fc.integer({ min: -maxTime, max: maxTime });
  const near = fc.integer({ min: 1.7e12, max: 1.7e12 + 3e8 });
  const time = fc.oneof(anyTime, { weight: 3, arbitrary: near });
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (times) => {
      for (const each of times) expect(isoTime(each)).toBe(new Date(each).toISOString());
    }),
  );
});

test.each([
  0,
  -1,
  1.5,
  -1.5,
  86_399_999,
  86_400_000,
  -86_400_000,
  -62_198_755_200_000,
  253_402_300_800_000,
  maxTime,
  -maxTime,
])('formats the time %d like Date', (time) => {
  expect(isoTime(time)).toBe(new Date(time).toISOString());
});

test.each([Number.NaN, Infinity, maxTime + 86_400_000])('rejects the time %d', (time) => {
  expect(() => isoTime(time)).toThrow(RangeError);
});
