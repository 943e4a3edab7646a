import { expect, test } from 'vitest';
import { describeCreated, describeSessions, joinNames } from './revocation-words.ts';

test.each([
  [0, false, ''],
  [1, false, 'A console session was started with this token and will end too.'],
  [1, true, 'Your session was started with this token: you will be signed out.'],
  [3, false, '3 console sessions were started with this token and will end too.'],
  [
    3,
    true,
    '3 console sessions were started with this token and will end too. One of them is yours: you will be signed out.',
  ],
])('describes %i ending sessions, own: %s', (sessions, includesOwnSession, words) => {
  expect(describeSessions(sessions, includesOwnSession)).toBe(words);
});

test('lists at most six names', () => {
  expect(joinNames(['a', 'b'])).toBe('a, b');
  expect(joinNames(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])).toBe('a, b, c, d, e, f and 2 more');
});

test.each([
  [0, true, 'the share links'],
  [1, false, 'the token'],
  [1, true, 'the token and the share links'],
  [3, true, 'the 3 tokens and the share links'],
])('describes %i created tokens, share links possible: %s', (tokens, mayShare, words) => {
  expect(describeCreated(tokens, mayShare)).toBe(words);
});
