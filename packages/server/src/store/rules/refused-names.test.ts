import { expect, test } from 'vitest';
import { createPersonMatcher } from './refused-names.ts';

const names = (others: string[]) => ({
  addresses: [],
  contactUUIDs: [],
  others,
});

test('a request that has no word in it names nobody, however many are looked for', () => {
  const isNamed = createPersonMatcher(names(Array.from({ length: 30 }, (_, nth) => `browser-${nth}`)));
  expect(isNamed({ input: '{}', message: '', address: null })).toBe(false);
  expect(isNamed({ input: '{"userUUID":"browser-7"}', message: '', address: null })).toBe(true);
  expect(isNamed({ input: '{"userUUID":"browser-77"}', message: '', address: null })).toBe(false);
});
