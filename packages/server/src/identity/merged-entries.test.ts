import { describe, expect, test } from 'vitest';
import { createEntryMerges, noEntryMerges, uniteEntries } from './merged-entries.ts';

const merges = createEntryMerges([
  { id: 'plan', mergedInto: null },
  { id: 'Plan', mergedInto: 'plan' },
  { id: 'PLAN', mergedInto: 'plan' },
  { id: 'constructor', mergedInto: '__proto__' },
]);

describe('an ID', () => {
  test.each([
    ['plan', 'plan', ['plan', 'PLAN', 'Plan']],
    ['Plan', 'plan', ['plan', 'PLAN', 'Plan']],
    ['constructor', '__proto__', ['__proto__', 'constructor']],
    ['toString', 'toString', ['toString']],
  ])('is resolved from %s to %s', (id, target, ids) => {
    expect(merges.targetOf(id)).toBe(target);
    expect(merges.idsOf(id)).toEqual(ids);
    expect(merges.has(id)).toBe(ids.length > 1);
  });
});

describe('values under several IDs', () => {
  test.each([
    [
      'the target’s own',
      [
        ['Plan', 'a'],
        ['plan', 'b'],
      ],
      [['plan', 'b']],
    ],
    [
      'the first by ID if the target is absent',
      [
        ['Plan', 'a'],
        ['size', 'L'],
        ['PLAN', 'b'],
      ],
      [
        ['plan', 'b'],
        ['size', 'L'],
      ],
    ],
    [
      'the first value that is not empty',
      [
        ['plan', null],
        ['Plan', 'a'],
      ],
      [['plan', 'a']],
    ],
    [
      'an empty value if all are empty',
      [
        ['Plan', null],
        ['plan', null],
      ],
      [['plan', null]],
    ],
  ] as const)('are reduced to one: %s', (_, entries, expected) => {
    expect(uniteEntries<string | null>(entries, merges, (value) => value !== null)).toEqual(expected);
  });

  test('are unchanged without merges', () => {
    expect(
      uniteEntries(
        [
          ['b', 1],
          ['a', 2],
        ],
        noEntryMerges,
      ),
    ).toEqual([
      ['b', 1],
      ['a', 2],
    ]);
  });
});
