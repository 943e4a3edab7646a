import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createSampleAccount } from '../../src/sample-shop/account.ts';
import { createSampleShop } from '../../src/sample-shop/sample-shop.ts';
import { openStore } from '../../src/store/open.ts';
import { newDatabaseURL } from '../fixtures/database.ts';

test('replaces a sample shop whose filling or removal was interrupted', async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal });
  onTestFinished(async () => void (await store.close()));
  const partial = await createSampleAccount(store, Date.now() - 86_400_000);
  const shop = createSampleShop(store, pino({ level: 'silent' }), { events: 200 });
  const complete = await shop.fill();
  expect(complete).toBeGreaterThan(partial.account);
  await store.deleteAccount({ account: complete, limit: 1, time: Date.now() });
  expect(await shop.fill()).toBeGreaterThan(complete);
  const accounts = await store.listAccounts();
  expect(accounts.filter(({ accountUUID }) => accountUUID.startsWith('sample-shop-'))).toHaveLength(1);
});
