import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { createSampleAccount } from './account.ts';
import { createSampleShop } from './sample-shop.ts';

let store: Store;
beforeEach(async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal });
});
afterEach(() => store.close());

const shops = async () =>
  (await store.listAccounts()).filter(({ accountUUID }) => accountUUID.startsWith('sample-shop-'));

it('fills the shop once, and again after it is removed', async () => {
  const shop = createSampleShop(store, pino({ level: 'silent' }), { events: 200 });
  const [one, other] = await Promise.all([shop.fill(), shop.fill()]);
  expect([other, (await shops()).length]).toEqual([one, 1]);
  const [removed, again] = await Promise.all([shop.remove(), shop.fill()]);
  expect([removed, again > one, (await shops()).length]).toEqual([undefined, true, 1]);
  await shop.remove();
});

it('replaces a shop whose filling or removal was interrupted', async () => {
  const partial = await createSampleAccount(store, Date.now() - 86_400_000);
  const shop = createSampleShop(store, pino({ level: 'silent' }), { events: 200 });
  const complete = await shop.fill();
  expect(complete).toBeGreaterThan(partial.account);
  await store.deleteAccount({ account: complete, limit: 1, time: Date.now() });
  expect(await shop.fill()).toBeGreaterThan(complete);
  expect(await shops()).toHaveLength(1);
});
