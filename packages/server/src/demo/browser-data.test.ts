import { expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { newContact, newEvent } from '../../test/fixtures/store.ts';
import { Refusal } from '../shared/refusal.ts';
import { openStore } from '../store/open.ts';
import type { Asker, Store } from '../store/store.ts';
import { openDemoAccount } from './account.ts';
import { readBrowserData } from './browser-data.ts';

const userUUID = 'a-browser-of-a-test';

/** A store with the demo's account, in which this browser has an event and, says the shop's server, is Ann. */
const setUp = async (): Promise<{ store: Store; asker: Asker; contactUUID: string }> => {
  const store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal: () => {} });
  const { asker } = (await openDemoAccount(store, 0)) as { asker: Asker };
  await store.logEvents({ ...asker, receivedTime: 0, events: [newEvent({ userUUID })] });
  const ann = { ...newContact({ userUUID, address: 'ann@shop.example' }), ...asker, verified: true };
  const { contactUUID } = await store.createContact({ ...ann, fields: { contactFirstname: 'Ann' } });
  return { store, asker, contactUUID };
};

it('shows a contact in the words of this browser only', async () => {
  const { store, asker, contactUUID } = await setUp();
  const seen = async () => (await readBrowserData(store, asker, userUUID)).people;
  expect(await seen()).toEqual([{ contactUUID, name: '', address: '' }]);
  const said = { ...newContact({ userUUID, address: 'ann@shop.example' }), ...asker, browser: true, verified: false };
  await store.createContact({ ...said, fields: { contactFirstname: 'Annie', contactLastname: 'Lee' } });
  expect(await seen()).toEqual([{ contactUUID, name: 'Annie Lee', address: 'ann@shop.example' }]);
});

it('shows nothing of a contact that is erased between two reads', async () => {
  const { store, asker, contactUUID } = await setUp();
  const erased = { ...store, getContact: () => Promise.reject(new Refusal('erased_contact')) };
  const { people, events } = await readBrowserData(erased, asker, userUUID);
  expect(people).toEqual([{ contactUUID, name: '', address: '' }]);
  expect(events).toMatchObject([{ contactUUID, loggedAnonymously: true }]);
});

it.each([
  ['has a fault', new Error('disk')],
  ['cannot answer now', new Refusal('unavailable')],
])('does not take it for an erased contact when the store %s', async (_, error) => {
  const { store, asker } = await setUp();
  const failing = { ...store, getContact: () => Promise.reject(error) };
  await expect(readBrowserData(failing, asker, userUUID)).rejects.toBe(error);
});
