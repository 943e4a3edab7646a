import { expect, test } from 'vitest';
import { createPersonSearch } from './names.ts';

const names = (others: string[]) => ({
  addresses: [],
  externalIDs: [],
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

test('an external ID is found as the value of its field, and a long one anywhere', () => {
  const { add, isNamedIn } = createPersonSearch();
  add({ addresses: [], contactUUIDs: [], others: [], externalIDs: ['7', 'Kunde "Ö"', 'customer-1042'] });
  const isNamed = (input: unknown) => isNamedIn({ input: JSON.stringify(input), message: '', address: null });
  expect([
    isNamed({ contactExternalID: '7' }),
    isNamed({ contactExternalID: 7 }),
    isNamed({ event: [{}, { contactExternalID: ' 7 ' }] }),
    isNamed({ contactExternalID: 'Kunde "O\u0308"' }),
    isNamed({ note: 'of customer-1042 ' }),
    isNamed('tokenUUID=&contactExternalID=7&eventID=1'),
    isNamed('{"contactExternalID": "7", '),
  ]).toEqual([true, true, true, true, true, true, true]);
  expect([
    isNamed({ contactExternalID: '77' }),
    isNamed({ eventID: 7, note: '7' }),
    isNamed({ contactExternalID: 'a', contactFirstname: '7' }),
    isNamed('contactExternalID=77&eventID=7'),
  ]).toEqual([false, false, false, false]);
});
