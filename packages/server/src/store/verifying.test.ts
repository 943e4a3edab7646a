import { afterEach, beforeEach, expect, test } from 'vitest';
import { newAccount, newEvent, newToken, nextStart } from '../../test/fixtures/store.ts';
import { openStore } from './open.ts';
import type { NewEvent, Store } from './store.ts';
import { digestAccount } from './verifying.ts';

let stores: Store[];
beforeEach(async () => {
  const open = () => openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal: () => {} });
  stores = [await open(), await open()];
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

test('detects a difference in any event, including one after the first page', async () => {
  const request = newAccount({ tokens: [newToken('server')] });
  const receivedTime = nextStart();
  const log = (store: Store, events: NewEvent[]) =>
    store.logEvents({ account: 1, token: 1, browser: false, receivedTime, events });
  const digests = () =>
    Promise.all(stores.map((store) => digestAccount(store, { account: 1, accountUUID: request.accountUUID })));
  const events = Array.from({ length: 1_000 }, () => newEvent());
  for (const store of stores) {
    await store.createAccount(request);
    await log(store, events);
  }
  const [one, other] = await digests();
  expect(one).toMatchObject({ accountUUID: request.accountUUID, events: 1_000, contacts: 0 });
  expect(other).toEqual(one);

  const last = newEvent();
  for (const [nth, store] of stores.entries()) await log(store, [{ ...last, attributes: [['path', `/${nth}`]] }]);
  const [ours, theirs] = await digests();
  expect([ours?.events, theirs?.events]).toEqual([1_001, 1_001]);
  expect(theirs?.checksum).not.toBe(ours?.checksum);
});
