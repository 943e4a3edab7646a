import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { createSampleAccount } from './account.ts';
import { createSampleShop } from './on-request.ts';

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

it('is filled once, and anew after it was removed', async () => {
  const shop = createSampleShop(store, pino({ level: 'silent' }), { events: 200 });
  const [one, other] = await Promise.all([shop.fill(), shop.fill()]);
  expect([other, (await shops()).length]).toEqual([one, 1]);
  const [removed, again] = await Promise.all([shop.remove(), shop.fill()]);
  expect([removed, again > one, (await shops()).length]).toEqual([undefined, true, 1]);
  await shop.remove();
});

it('is filled anew when filling it, or removing it, was interrupted', async () => {
  const half = await createSampleAccount(store, Date.now() - 86_400_000);
  const shop = createSampleShop(store, pino({ level: 'silent' }), { events: 200 });
  const whole = await shop.fill();
  expect(whole).toBeGreaterThan(half.account);
  await store.deleteAccount({ account: whole, most: 1, time: Date.now() });
  expect(await shop.fill()).toBeGreaterThan(whole);
  expect(await shops()).toHaveLength(1);
});
