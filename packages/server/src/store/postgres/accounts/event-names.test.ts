import { expect, test } from 'vitest';
import type { AccountConnection } from '../database/connection.ts';
import { createEventNames, maxNames, readVersion } from './event-names.ts';

/** An account with a catalogue; counts the queries for names. */
const accountWith = (names: Record<number, string>, version = 1) => {
  const account = {
    queries: 0,
    version,
    names,
    db: {
      account: 1,
      async all(_: string, [, ids]: [number, string[]]) {
        account.queries += 1;
        return ids.flatMap((id) => {
          const name = account.names[Number(id)];
          return name === undefined ? [] : [{ id, name }];
        });
      },
      get: async () => ({ version: account.version }),
    } as unknown as AccountConnection,
  };
  return account;
};

test('reads each name once, including those of unlisted events', async () => {
  const account = accountWith({ 1: 'sign-up', 2: 'purchase' });
  const names = createEventNames();
  const read = () => names.read(account.db, 1, [1, 2, 3]);
  const expected = new Map([
    [1, 'sign-up'],
    [2, 'purchase'],
    [3, null],
  ]);
  expect(await read()).toEqual(expected);
  expect(await read()).toEqual(expected);
  expect(account.queries).toBe(1);
});

test('caches names by catalogue version', async () => {
  const account = accountWith({ 1: 'sign-up' });
  const names = createEventNames();
  expect((await names.read(account.db, 1, [1])).get(1)).toBe('sign-up');
  Object.assign(account, { version: 2, names: { 1: 'registration' } });
  expect((await names.read(account.db, 2, [1])).get(1)).toBe('registration');
  expect((await names.read(account.db, 1, [1])).get(1)).toBe('sign-up');
});

test('does not cache names that have changed since the version was read', async () => {
  const account = accountWith({ 1: 'registration' }, 2);
  const names = createEventNames();
  expect((await names.read(account.db, 1, [1])).get(1)).toBe('registration');
  expect(names.size()).toBe(0);
});

test('limits the cache size', async () => {
  const account = accountWith({});
  const names = createEventNames();
  const eventIDs = Array.from({ length: 1_000 }, (_, nth) => nth);
  for (let version = 1; version <= maxNames / 1_000 + 5; version += 1) {
    account.version = version;
    await names.read(account.db, version, eventIDs);
  }
  expect(names.size()).toBe(maxNames);
});

test('returns -1 as a deleted account’s version', async () => {
  expect(await readVersion({ account: 1, get: async () => undefined } as unknown as AccountConnection)).toBe(-1);
});
