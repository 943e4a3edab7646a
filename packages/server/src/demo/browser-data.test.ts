import { expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { newContact, newEvent } from '../../test/fixtures/store.ts';
import { Refusal } from '../shared/refusal.ts';
import { openStore } from '../store/open.ts';
import type { Store, StoreCaller } from '../store/store.ts';
import { openDemoAccount } from './account.ts';
import { readBrowserData } from './browser-data.ts';

const userUUID = 'a-browser-of-a-test';

/**
 * A store with the demo's account. The browser has an event, and the shop's server has identified its visitor as Ann.
 */
const setUp = async (): Promise<{ store: Store; caller: StoreCaller; contactUUID: string }> => {
  const store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal: () => {} });
  const { caller } = (await openDemoAccount(store, 0)) as { caller: StoreCaller };
  await store.logEvents({ ...caller, receivedTime: 0, events: [newEvent({ userUUID })] });
  const ann = { ...newContact({ userUUID, address: 'ann@shop.example' }), ...caller, verified: true };
  const { contactUUID } = await store.createContact({ ...ann, fields: { contactFirstname: 'Ann' } });
  return { store, caller, contactUUID };
};

it('shows only the contact data that this browser sent', async () => {
  const { store, caller, contactUUID } = await setUp();
  const readPeople = async () => (await readBrowserData(store, caller, userUUID)).people;
  expect(await readPeople()).toEqual([{ contactUUID, name: '', address: '' }]);
  const claim = { ...newContact({ userUUID, address: 'ann@shop.example' }), ...caller, browser: true, verified: false };
  await store.createContact({ ...claim, fields: { contactFirstname: 'Annie', contactLastname: 'Lee' } });
  expect(await readPeople()).toEqual([{ contactUUID, name: 'Annie Lee', address: 'ann@shop.example' }]);
});

it('shows no data about a contact that is erased between two reads', async () => {
  const { store, caller, contactUUID } = await setUp();
  const storeAfterErasure = { ...store, getContact: () => Promise.reject(new Refusal('erased_contact')) };
  const { people, events } = await readBrowserData(storeAfterErasure, caller, userUUID);
  expect(people).toEqual([{ contactUUID, name: '', address: '' }]);
  expect(events).toMatchObject([{ contactUUID, loggedAnonymously: true }]);
});

it.each([
  ['fails', new Error('disk')],
  ['is unavailable', new Refusal('unavailable')],
])('rejects instead of assuming that the contact was erased if the store %s', async (_, error) => {
  const { store, caller } = await setUp();
  const failing = { ...store, getContact: () => Promise.reject(error) };
  await expect(readBrowserData(failing, caller, userUUID)).rejects.toBe(error);
});
