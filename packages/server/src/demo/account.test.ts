import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { newAccount, newToken } from '../../test/fixtures/store.ts';
import { fillSampleShop } from '../sample-shop/fill.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { openDemoAccount } from './account.ts';

let store: Store;
beforeEach(async () => {
  store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal: () => {} });
});
afterEach(() => store.close());

it('is made once, and found from then on, its secret not any more', async () => {
  const first = await openDemoAccount(store, 0);
  expect(first).toMatchObject({ browserToken: expect.stringMatching(/^browser_/), serverToken: expect.any(String) });
  expect(await openDemoAccount(store, 1)).toEqual({ ...first, serverToken: undefined });
  expect(await store.listAccounts()).toHaveLength(1);
});

it('is the one that an earlier release made under another name', async () => {
  const earlier = newAccount({ tokens: [newToken('browser')] });
  await store.createAccount({ ...earlier, accountName: 'Demo shop' });
  expect(await openDemoAccount(store, 0)).toMatchObject({ serverToken: undefined });
  expect(await store.listAccounts()).toHaveLength(1);
});

it('lists in its catalogues what pages use, so that one can try it', async () => {
  const demo = await openDemoAccount(store, 0);
  expect(await store.getAccount(demo?.asker.account as number)).toMatchObject({ browserCatalogue: true });
});

it('is given another browser token when all of its own were revoked', async () => {
  const first = await openDemoAccount(store, 0);
  const account = first?.asker.account as number;
  const { tokens } = await store.getAccount(account);
  for (const { tokenID } of tokens) await store.revokeToken({ account, tokenID, time: 1 });
  const second = await openDemoAccount(store, 2);
  expect(second?.asker.account).toBe(account);
  expect(second?.browserToken).not.toBe(first?.browserToken);
  expect(await openDemoAccount(store, 3)).toMatchObject({ browserToken: second?.browserToken });
});

it('is not made beside accounts of somebody else', async () => {
  await store.createAccount(newAccount({ tokens: [newToken('browser')] }));
  expect(await openDemoAccount(store, 0)).toBeUndefined();
  expect(await store.listAccounts()).toHaveLength(1);
});

it('is made beside the sample shop', async () => {
  await fillSampleShop(store, { events: 2_000 });
  expect(await openDemoAccount(store, Date.now())).toBeDefined();
  expect(await store.listAccounts()).toHaveLength(2);
});
