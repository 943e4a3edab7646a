import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readVisitorList, toVisitorList, withoutVisitors } from './visitor-list.ts';

/** Reads the visitors of each 15-minute interval, in ascending order. */
const readAll = (bytes: Buffer): [number, number[]][] => {
  const quarters: [number, number[]][] = [];
  readVisitorList(bytes, (quarter) => {
    const visitors: number[] = [];
    quarters.push([quarter, visitors]);
    return (visitor) => {
      visitors.push(visitor);
    };
  });
  return quarters;
};
const ascending = (a: number, b: number) => a - b;
const inOrder = (visitors: ReadonlyMap<number, readonly number[]>): [number, number[]][] =>
  [...visitors]
    .filter(([, some]) => some.length > 0)
    .sort(([a], [b]) => a - b)
    .map(([quarter, some]) => [quarter, some.toSorted(ascending)]);

const holder = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  // Generates at most half of the safe integers, because the encoding uses one bit for the sign. Excludes -0.
  fc.maxSafeInteger().map((number) => Math.trunc(number / 4) + 0),
);
const quarter = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 1_900_000, max: 2_000_000 }));
const entries = fc.array(fc.tuple(quarter, fc.array(fc.tuple(holder, fc.boolean()), { minLength: 1 })));

test('round-trips visitors and removes some', () => {
  fc.assert(
    fc.property(entries, (entries) => {
      const all = new Map(entries.map(([quarter, some]) => [quarter, some.map(([visitor]) => visitor)]));
      expect(readAll(toVisitorList(all))).toEqual(inOrder(all));
      const part = (isGone: boolean) =>
        new Map(
          entries.map(([quarter, some]) => [
            quarter,
            some.filter(([, gone]) => gone === isGone).map(([visitor]) => visitor),
          ]),
        );
      const left = withoutVisitors(toVisitorList(all), part(true));
      expect(readAll(left)).toEqual(inOrder(part(false)));
      expect(left).toEqual(toVisitorList(new Map(inOrder(part(false)))));
    }),
  );
});

test('takes two bytes per event, and one byte for another event of the same visitor', () => {
  const visitors = Array.from({ length: 1_000 }, (_, nth) => 100_000 + 200 * nth);
  const once = toVisitorList(new Map([[1_900_000, visitors]])).length;
  expect(once).toBeLessThan(2_020);
  expect(toVisitorList(new Map([[1_900_000, [...visitors, ...visitors]]])).length - once).toBe(1_000);
});

test('skips intervals for which there is no callback', () => {
  const bytes = toVisitorList(
    new Map([
      [1, [7, 8]],
      [2, [9]],
    ]),
  );
  const visitors: number[] = [];
  readVisitorList(bytes, (quarter) => (quarter === 2 ? (visitor) => visitors.push(visitor) : undefined));
  expect(visitors).toEqual([9]);
});
