import { expect, test } from 'vitest';
import type { AccountConnection } from '../database/connection.ts';
import { createEventNames, maxNames, readVersion } from './event-names.ts';

/** An account with a catalogue, that counts how often names are asked for. */
const accountWith = (names: Record<number, string>, version = 1) => {
  const account = {
    asked: 0,
    version,
    names,
    db: {
      account: 1,
      async all(_: string, [, ids]: [number, string[]]) {
        account.asked += 1;
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

test('names are asked for once, also those of events that are not listed', async () => {
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
  expect(account.asked).toBe(1);
});

test('a new version of the catalogues has names of its own', async () => {
  const account = accountWith({ 1: 'sign-up' });
  const names = createEventNames();
  expect((await names.read(account.db, 1, [1])).get(1)).toBe('sign-up');
  Object.assign(account, { version: 2, names: { 1: 'registration' } });
  expect((await names.read(account.db, 2, [1])).get(1)).toBe('registration');
  expect((await names.read(account.db, 1, [1])).get(1)).toBe('sign-up');
});

test('names that have changed since the version was read are not cached under it', async () => {
  const account = accountWith({ 1: 'registration' }, 2);
  const names = createEventNames();
  expect((await names.read(account.db, 1, [1])).get(1)).toBe('registration');
  expect(names.size()).toBe(0);
});

test('the cache does not grow beyond its limit', async () => {
  const account = accountWith({});
  const names = createEventNames();
  const eventIDs = Array.from({ length: 1_000 }, (_, nth) => nth);
  for (let version = 1; version <= maxNames / 1_000 + 5; version += 1) {
    account.version = version;
    await names.read(account.db, version, eventIDs);
  }
  expect(names.size()).toBe(maxNames);
});

test('an account that is gone has a version of its own', async () => {
  expect(await readVersion({ account: 1, get: async () => undefined } as unknown as AccountConnection)).toBe(-1);
});
