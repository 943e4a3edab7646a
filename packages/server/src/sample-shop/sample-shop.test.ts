import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
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
