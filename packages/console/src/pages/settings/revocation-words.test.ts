import { expect, test } from 'vitest';
import { madeInWords, namesInWords, sessionsInWords } from './revocation-words.ts';

test.each([
  [0, false, ''],
  [1, false, 'A session of the console was started with it and ends too.'],
  [1, true, 'Your session of the console was started with it: you will be signed out.'],
  [3, false, '3 sessions of the console were started with it and end too.'],
  [
    3,
    true,
    '3 sessions of the console were started with it and end too. Yours is one of them: you will be signed out.',
  ],
])('describes %i sessions that end, own: %s', (sessions, isOwnAmongThem, words) => {
  expect(sessionsInWords(sessions, isOwnAmongThem)).toBe(words);
});

test('lists at most six names', () => {
  expect(namesInWords(['a', 'b'])).toBe('a, b');
  expect(namesInWords(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])).toBe('a, b, c, d, e, f and 2 more');
});

test.each([
  [0, true, 'the share links'],
  [1, false, 'the token'],
  [1, true, 'the token and the share links'],
  [3, true, 'the 3 tokens and the share links'],
])('describes %i tokens that were made, and share links: %s', (tokens, mayShare, words) => {
  expect(madeInWords(tokens, mayShare)).toBe(words);
});
