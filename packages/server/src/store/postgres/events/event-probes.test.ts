import { expect, test } from 'vitest';
import { probesOf } from './event-probes.ts';
import type { Stretch } from './event-sources.ts';

const stretch = (after: number, through: number, holder = 7, user: number | null = null): Stretch => ({
  holder,
  after,
  through,
  user,
});
const group = 1_024;

test.each<[string, readonly Stretch[], readonly { after: number; through: number; bounds: readonly number[] }[]]>([
  ['no stretch', [], []],
  ['one stretch', [stretch(0, 9)], [{ after: 0, through: 9, bounds: [] }]],
  [
    'stretches in one group, in any order',
    [stretch(20, 30), stretch(0, 9), stretch(9, 12)],
    [{ after: 0, through: 30, bounds: [1, 10, 10, 13, 21, 31] }],
  ],
  [
    'a stretch that starts in the group in which the previous one ends',
    [stretch(0, 5 * group + 1), stretch(5 * group + 7, Number.MAX_SAFE_INTEGER)],
    [{ after: 0, through: Number.MAX_SAFE_INTEGER, bounds: [1, 5 * group + 2, 5 * group + 8, 2 ** 53] }],
  ],
  [
    'a stretch that starts in the next group',
    [stretch(0, group - 1), stretch(group - 1, group + 9)],
    [
      { after: 0, through: group - 1, bounds: [] },
      { after: group - 1, through: group + 9, bounds: [] },
    ],
  ],
  [
    'sequences beyond 32 bits',
    [stretch(2 ** 40, 2 ** 40 + 5), stretch(2 ** 40 + 9, 2 ** 41), stretch(2 ** 41 + group, 2 ** 42)],
    [
      { after: 2 ** 40, through: 2 ** 41, bounds: [2 ** 40 + 1, 2 ** 40 + 6, 2 ** 40 + 10, 2 ** 41 + 1] },
      { after: 2 ** 41 + group, through: 2 ** 42, bounds: [] },
    ],
  ],
])('joins %s into probes', (_, stretches, expected) => {
  expect(probesOf(stretches)).toEqual(expected.map((probe) => ({ holder: 7, user: null, ...probe })));
});

test('does not join stretches of different holders or users', () => {
  const stretches = [stretch(0, 5, -7), stretch(6, 9, -7, 1), stretch(10, 15, -8), stretch(20, 25, -8)];
  expect(probesOf(stretches).map(({ holder, user, bounds }) => [holder, user, bounds])).toEqual([
    [-8, null, [11, 16, 21, 26]],
    [-7, null, []],
    [-7, 1, []],
  ]);
});
