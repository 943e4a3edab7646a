import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { followMerges, mergedWith, wouldCycle } from './merges.ts';

// 3 and 4 were merged into 2, then 2 into 1; 7 into 6; 5 is not merged.
const merges = new Map([
  [4, 2],
  [3, 2],
  [2, 1],
  [7, 6],
]);

test.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 1],
  [5, 5],
  [7, 6],
])('resolves contact %i to %i', (contact, record) => {
  expect(followMerges(merges)(contact)).toBe(record);
});

test('follows the current merges in the map', () => {
  const changing = new Map<number, number>();
  const follow = followMerges(changing);
  changing.set(2, 1);
  expect(follow(2)).toBe(1);
  changing.delete(2);
  expect(follow(2)).toBe(2);
});

describe('merging other into keep', () => {
  test.each([
    ['itself', 5, 5, true],
    ['the contact it was merged into', 2, 1, true],
    ['the contact it was merged into in two steps', 4, 1, true],
    ['an unrelated contact', 5, 1, false],
    ['a merged contact', 3, 5, false],
    ['the contact it is already merged into', 1, 3, false],
  ])('is checked for a cycle: %s', (_, keep, other, cycles) => {
    expect(wouldCycle(merges, keep, other)).toBe(cycles);
  });

  test('never forms a cycle that wouldCycle did not detect', () => {
    const contact = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(contact, contact)), (pairs) => {
        const map = new Map<number, number>();
        for (const [keep, other] of pairs) if (!wouldCycle(map, keep, other)) map.set(other, keep);
        for (let one = 1; one <= 8; one += 1) {
          const record = followMerges(map)(one);
          expect(map.has(record)).toBe(false);
          expect(mergedWith(map, record)).toContain(one);
        }
      }),
    );
  });
});

test.each([
  [1, [1, 2, 3, 4]],
  [2, [2, 3, 4]],
  [3, [3]],
  [5, [5]],
  [6, [6, 7]],
])('lists the contacts merged into %i: %j', (contact, all) => {
  expect(mergedWith(merges, contact)).toEqual(all);
});

test('lists merged contacts in numeric order', () => {
  expect(
    mergedWith(
      new Map([
        [100, 20],
        [3, 20],
      ]),
      20,
    ),
  ).toEqual([3, 20, 100]);
});

describe('a corrupt map with a cycle', () => {
  const cycle = new Map([
    [1, 2],
    [2, 3],
    [3, 1],
  ]);

  test('throws when followed, and the error names the contact', () => {
    expect(() => followMerges(cycle)(2)).toThrow('contact 2: the merges form a cycle');
    expect(() => wouldCycle(cycle, 1, 9)).toThrow('contact 1: the merges form a cycle');
    expect(() => followMerges(new Map([[1, 1]]))(1)).toThrow('contact 1');
  });

  test('does not affect contacts outside the cycle, and can be listed', () => {
    expect(followMerges(cycle)(9)).toBe(9);
    expect(mergedWith(cycle, 2)).toEqual([1, 2, 3]);
  });
});
