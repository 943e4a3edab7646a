import { expect, test } from 'vitest';
import { createPersonSearch } from './names.ts';

const names = (others: string[]) => ({
  addresses: [],
  contactUUIDs: [],
  others,
});

test('a request that has no word in it names nobody, however many are looked for', () => {
  const { add, isNamedIn } = createPersonSearch();
  add(names(Array.from({ length: 30 }, (_, nth) => `browser-${nth}`)));
  expect(isNamedIn({ input: '{}', message: '', address: null })).toBe(false);
  expect(isNamedIn({ input: '{"userUUID":"browser-7"}', message: '', address: null })).toBe(true);
  expect(isNamedIn({ input: '{"userUUID":"browser-77"}', message: '', address: null })).toBe(false);
});
