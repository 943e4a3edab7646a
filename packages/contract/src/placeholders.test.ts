import { expect, test } from 'vitest';
import { isSharedByMistake } from './placeholders.ts';

test.each([
  'undefinedundefined',
  'Null-null_null-null',
  '00000000-0000-0000-0000-000000000000',
  '----------------',
  'aAaAaAaAaAaAaAaA',
  'not_authenticated',
  'NotAuthenticated',
])('a userUUID of all visitors is one of nobody: %s', (userUUID) => {
  expect(isSharedByMistake(userUUID)).toBe(true);
});

test.each(['undefinedundefined1', '0000000000000001', 'null-and-void-null', 'notauthenticated2'])(
  'a userUUID of one visitor is taken: %s',
  (userUUID) => {
    expect(isSharedByMistake(userUUID)).toBe(false);
  },
);
