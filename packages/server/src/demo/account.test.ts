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

it('creates the account once, and returns its server token only when it creates the account', async () => {
  const first = await openDemoAccount(store, 0);
  expect(first).toMatchObject({ browserToken: expect.stringMatching(/^browser_/), serverToken: expect.any(String) });
  expect(await openDemoAccount(store, 1)).toEqual({ ...first, serverToken: undefined });
  expect(await store.listAccounts()).toHaveLength(1);
});

it('reuses the account that an earlier release created under another name', async () => {
  const earlier = newAccount({ tokens: [newToken('browser')] });
  await store.createAccount({ ...earlier, accountName: 'Demo shop' });
  expect(await openDemoAccount(store, 0)).toMatchObject({ serverToken: undefined });
  expect(await store.listAccounts()).toHaveLength(1);
});

it('lets pages add to the catalogues', async () => {
  const demo = await openDemoAccount(store, 0);
  expect(await store.getAccount(demo?.caller.account as number)).toMatchObject({ browserCatalogue: true });
});

it('creates a browser token if all existing browser tokens are revoked', async () => {
  const first = await openDemoAccount(store, 0);
  const account = first?.caller.account as number;
  const { tokens } = await store.getAccount(account);
  for (const { tokenID } of tokens) await store.revokeToken({ account, tokenID, time: 1 });
  const second = await openDemoAccount(store, 2);
  expect(second?.caller.account).toBe(account);
  expect(second?.browserToken).not.toBe(first?.browserToken);
  expect(await openDemoAccount(store, 3)).toMatchObject({ browserToken: second?.browserToken });
});

it('does not create the account in a database with other accounts', async () => {
  await store.createAccount(newAccount({ tokens: [newToken('browser')] }));
  expect(await openDemoAccount(store, 0)).toBeUndefined();
  expect(await store.listAccounts()).toHaveLength(1);
});

it('creates the account in a database that has only the sample shop', async () => {
  await fillSampleShop(store, { events: 2_000 });
  expect(await openDemoAccount(store, Date.now())).toBeDefined();
  expect(await store.listAccounts()).toHaveLength(2);
});
