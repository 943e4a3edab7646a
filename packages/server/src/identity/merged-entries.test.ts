import { describe, expect, test } from 'vitest';
import { createEntryMerges, noEntryMerges, united } from './merged-entries.ts';

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
  ])('%s is read as %s', (id, kept, ids) => {
    expect(merges.keptOf(id)).toBe(kept);
    expect(merges.idsOf(id)).toEqual(ids);
    expect(merges.has(id)).toBe(ids.length > 1);
  });
});

describe('values under several IDs', () => {
  test.each([
    [
      'the kept one’s own',
      [
        ['Plan', 'a'],
        ['plan', 'b'],
      ],
      [['plan', 'b']],
    ],
    [
      'of others, the first by ID',
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
      'one value rather than none',
      [
        ['plan', null],
        ['Plan', 'a'],
      ],
      [['plan', 'a']],
    ],
    [
      'none where none has one',
      [
        ['Plan', null],
        ['plan', null],
      ],
      [['plan', null]],
    ],
  ] as const)('are one: %s', (_, entries, expected) => {
    expect(united<string | null>(entries, merges, (value) => value !== null)).toEqual(expected);
  });

  test('stay what they are without merges', () => {
    expect(
      united(
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
