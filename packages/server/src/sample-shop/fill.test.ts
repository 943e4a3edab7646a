import { expect, it, onTestFinished } from 'vitest';
import { createSite } from '../../test/fixtures/site.ts';
import { openStore } from '../store/open.ts';
import { findSampleShop, removeSampleShop } from './account.ts';
import { fillSampleShop, type Progress } from './fill.ts';

const open = async () => {
  const store = await openStore({
    databaseURL: 'sqlite::memory:',
    role: 'server',
    onFatal: (error) => {
      throw error;
    },
  });
  onTestFinished(() => store.close());
  return store;
};
/** Fixed, so that every run generates the same shop. */
const now = Date.UTC(2026, 10, 25, 14, 30);
const events = 2_000;

it('stores the month in a separate account whose name identifies it as sample data', async () => {
  const store = await open();
  const site = await createSite(store);
  const updates: Progress[] = [];
  const filled = await fillSampleShop(store, { now, events: 4_000, onProgress: (progress) => updates.push(progress) });
  expect(filled).toMatchObject({ events: 4_000, accountName: 'Sample shop (demo data)' });
  expect(updates.at(-1)).toEqual({ events: 4_000, of: 4_000 });
  expect(await findSampleShop(store)).toMatchObject({ accountUUID: filled.accountUUID });
  expect((await store.getAccount(site.account)).usage).toEqual({ contacts: 0, users: 0, events: 0 });

  const account = (await store.findAccount(filled.accountUUID)) as number;
  const { usage, tokens, catalogues } = await store.getAccount(account);
  expect(usage).toEqual({ events: filled.events, contacts: filled.contacts, users: filled.users });
  expect(tokens.map(({ kind }) => kind).sort()).toEqual(['browser', 'browser', 'server', 'viewer']);
  expect(catalogues.event.map(({ name }) => name)).toContain('Purchased');
  expect(await store.listSegments({ account })).toHaveLength(6);
  expect(await store.listGoals({ account })).toHaveLength(2);
  expect(await store.listNotes({ account, from: 0, to: Date.now(), limit: 9 })).toHaveLength(2);
  const { requests } = await store.listRefused({ account, beyond: 0, limit: 10 });
  expect(requests).toHaveLength(4);
  const { entries } = await store.listAudit({ account, limit: 1_000 });
  const storyActions = ['createAccount', 'linkUser', 'unlinkUser', 'acceptClaim', 'voidClaim', 'mergeContact'];
  expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(storyActions));
});

it('rejects a second shop', async () => {
  const store = await open();
  await fillSampleShop(store, { events });
  await expect(fillSampleShop(store, { events })).rejects.toThrow(/already exists/);
});

it('never dates a last visit in the future, even in a database with events or after a refill', async () => {
  const store = await open();
  const site = await createSite(store);
  await site.server.logAt(Date.now(), {});
  await fillSampleShop(store, { events });
  await removeSampleShop(store);
  await fillSampleShop(store, { events });
  for (const { account } of await store.listAccounts()) {
    const { contacts } = await store.searchContact({ account, seenFrom: Date.now(), limit: 5 });
    expect(contacts).toEqual([]);
  }
});
