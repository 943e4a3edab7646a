// Copies a file to PostgreSQL, where servers continue to write, and back to a file. Reads and duplicate detection must
// stay the same.
import { statSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { copyStore, openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { digestAccount } from '../../src/store/verifying.ts';
import { firsthand, temporaryDatabase } from '../fixtures/command.ts';
import { newDatabase } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { ben, cleo, day, newToken } from '../fixtures/store.ts';
import { soon } from '../fixtures/timeouts.ts';
import { historyArbitrary, playHistory } from '../fixtures/world.ts';

const onFatal = (error: Error) => {
  throw error;
};

let current: Store | undefined;
/** Delegates to the open store, so that a site can continue in a different database. */
const store = new Proxy({} as Store, { get: (_, name: keyof Store) => current?.[name] });

const close = async () => {
  await current?.close();
  current = undefined;
};
/** Files are opened with the role `command`, which works on this thread. */
const roleOf = (databaseURL: string) => (databaseURL.startsWith('sqlite:') ? 'command' : 'server');
const open = async (databaseURL: string, role: 'server' | 'command' = roleOf(databaseURL)) => {
  current = await openStore({ databaseURL, role, create: true, onFatal });
};
afterEach(close);

const newFile = () => temporaryDatabase().env.DATABASE_URL;

const copyVerified = async (from: string, to: string, accounts: number) => {
  await close();
  const { code, stdout, stderr } = await firsthand(['copy', '--from', from, '--to', to, '--verify'], {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/identical$/gm)).toHaveLength(accounts);
  if (to.startsWith('sqlite:')) expect(statSync(to.slice('sqlite:'.length)).mode & 0o777).toBe(0o600);
  await open(to);
};

const createSites = async (count: number, seed: number): Promise<Site[]> => {
  const sites: Site[] = [];
  for (const past of fc.sample(historyArbitrary, { numRuns: count, seed })) {
    const site = await createSite(store);
    await playHistory(site, past);
    sites.push(site);
  }
  return sites;
};

const eraseWhole = (site: Site, contactUUID: string) =>
  vi.waitUntil(async () => (await site.erase(contactUUID)).complete, { ...soon, interval: 5 });

const isErased = { code: 'erased_contact' };
const duplicate = { kept: false, duplicate: true };

test('copies to PostgreSQL and back without changes, and recognizes duplicates in each database', async () => {
  const [file, servers, back, again] = [newFile(), await newDatabase(), newFile(), await newDatabase()];
  await open(file);
  const worlds = await createSites(3, 9);
  const site = await createSite(store);
  const { account, server, browser, time } = site;
  const revoked = newToken('server');
  await store.createToken({ ...revoked, account });

  const ofAnn = { requestUUID: 'request-of-the-file', userUUID: 'visitor-ann-00001' };
  const ann = await server.createContact({ ...ofAnn, tags: ['vip'], attributes: [['size', 'S']] });
  const ofNobody = { requestUUID: 'request-without-user', userUUID: null, fields: { contactFirstname: 'Ann' } };
  const withoutUser = await server.createContact(ofNobody);
  await site.update({ contactUUID: ann.contactUUID, removedTags: ['vip', 'early'], attributes: [['size', null]] });
  const ofBen = { address: ben, userUUID: 'visitor-ben-00001' };
  const { contactUUID: erased } = await server.createContact(ofBen);
  const events = [
    { eventUUID: 'event-of-the-file', userUUID: 'visitor-ann-00001', attributes: [['tab\t\\', '☃\n']] as const },
    { eventUUID: 'event-of-both-0001', userUUID: 'visitor-ben-00001', contactUUID: ann.contactUUID },
    { eventUUID: 'event-with-contact', userUUID: null, contactUUID: ann.contactUUID },
    { eventUUID: 'event-before-erased', userUUID: 'visitor-ben-00001' },
  ];
  await server.log(...events);
  await eraseWhole(site, erased);
  const segment = { segmentName: '__proto__', filter: '{"attrID":"tab\\t","is":"☃"}' };
  await store.saveSegment({ account, ...segment, time });
  const saved = { viewName: '__proto__', page: 'events', query: 'tab=funnel' } as const;
  await store.saveView({ account, ...saved, time });
  const goal = { goalID: 'of the file', goalName: '☃', eventID: null, eventName: null, path: '/☃/*', attrID: 'tab\t' };
  await store.createGoal({ account, ...goal, time });
  const note = { noteID: 'of the file', noteText: 'Tab ☃', noteTime: time - day };
  await store.createNote({ account, ...note, time });
  const link = { shareID: 'of-the-file', shareName: 'Tab\t', page: 'events', view: '{"query":"","report":[]}' };
  await store.createShareLink({ account, ...link, hash: 'secret', expiresTime: time + day, by: server.token, time });
  await store.recordShareLinkUse({ shareID: link.shareID, time });
  const invited = { account, memberID: 'ben', emailaddress: ben, kind: 'editor', time } as const;
  await store.inviteMember({ ...invited, hash: 'taken', expiresTime: time + 1 });
  const passkey = { passkeyID: 'phone', passkeyName: 'Phone', credentialID: 'credential', publicKey: 'pQECAyYgASFY' };
  const origin = 'https://firsthand.shop.example';
  await store.joinMember({
    ...{ hash: 'taken', memberName: 'Ben', password: 'hashed', access: newToken('editor'), time },
    passkey: { ...passkey, origin, counter: 7, transports: ['internal', 'hybrid'] },
  });
  await store.inviteMember({ ...invited, hash: 'open', expiresTime: time + day, by: server.token });
  await store.recordKnownNetwork({ memberIDs: ['ben'], network: 'of the file', time });
  const members = await store.listMembers({ account });
  const passkeys = await store.listPasskeys({ memberID: 'ben' });
  /** Lists a name, removes it, and returns its eventID, which no later name must get in any database. */
  const listName = async (eventName: string) => {
    await server.log({ eventID: null, eventName });
    const [event] = await site.events({ eventName });
    await site.change({ catalogues: { event: [{ id: String(event?.eventID), remove: true }] } });
    return event?.eventID;
  };
  expect(await listName('of the file')).toBe(1_000_000);
  const digests = await Promise.all(worlds.map((world) => digestAccount(store, world)));

  await copyVerified(file, servers, 4);
  const expectUnchanged = async () => {
    // Checks the content also on the next day.
    for (const at of [time, time + day]) {
      expect(await server.logAt(at, ...events)).toEqual(events.map(() => duplicate));
      expect(await server.createContact({ ...ofAnn, time: at })).toEqual(ann);
      expect(await server.createContact({ ...ofNobody, time: at })).toEqual(withoutUser);
    }
    await expect(server.getContact(erased)).rejects.toMatchObject(isErased);
    expect(await store.listSegments({ account })).toEqual([{ ...segment, createdTime: time, updatedTime: time }]);
    expect(await store.listViews({ account })).toEqual([{ ...saved, createdTime: time, updatedTime: time }]);
    expect(await store.listGoals({ account })).toEqual([{ ...goal, createdTime: time, updatedTime: time }]);
    expect(await store.listNotes({ account, from: 0, to: time, limit: 2 })).toEqual([{ ...note, createdTime: time }]);
    expect(await store.listShareLinks({ account, views: true })).toMatchObject([
      { ...link, createdBy: server.tokenID },
    ]);
    expect(await store.findShareLink({ hash: 'secret', time })).toMatchObject({ ...link, lastUsedTime: time });
    expect(await store.listMembers({ account })).toEqual(members);
    expect(await store.listPasskeys({ memberID: 'ben' })).toEqual(passkeys);
    expect(await store.findPasskey(passkey)).toMatchObject({ passkeyID: 'phone', memberID: 'ben', origin, counter: 7 });
    expect(await store.findMembers({ emailaddress: ben, network: 'of the file', time })).toMatchObject([
      { kind: 'editor', password: 'hashed', isKnown: true },
    ]);
    expect(await store.findInvitation({ hash: 'open', time })).toMatchObject({ memberID: 'ben', memberName: 'Ben' });
  };
  await expectUnchanged();
  expect(await listName('of servers')).toBe(1_000_001);
  await store.revokeToken({ account, tokenID: revoked.tokenID, time });
  const newServerToken = newToken('server');
  await store.createToken({ ...newServerToken, account });
  const { contactUUID: cleoUUID } = await server.createContact({ address: cleo, userUUID: 'visitor-cleo-0001' });
  const ofCleo = { address: cleo, requestUUID: 'request-to-be-erased', userUUID: 'visitor-cleo-0002' };
  await browser.createContact(ofCleo);
  events.push({ eventUUID: 'event-of-servers-1', userUUID: 'visitor-cleo-0001' });
  await server.log(...events);
  await eraseWhole(site, cleoUUID);
  const ofDan = { address: 'dan@example.com', requestUUID: 'request-by-a-browser', userUUID: 'visitor-dan-00001' };
  const dan = await browser.createContact({ ...ofDan, fields: { contactFirstname: 'Dan' } });
  const input = { userUUID: 'visitor-dan-00001', eventID: 0 };
  const refusal = { operation: 'logEvent', code: 'invalid_field', field: 'eventID', message: 'wrong' } as const;
  await store.addRefused({
    account,
    token: server.token,
    time,
    sender: 7,
    robot: true,
    requests: [{ ...refusal, input, address: null }],
  });
  const page = await store.getEvents({ account, order: 'asc', limit: 1 });
  const rest = await site.events({ beyond: page.next as number });
  expect(rest.length).toBeGreaterThan(0);

  await copyVerified(servers, back, 4);
  expect(await Promise.all(worlds.map((world) => digestAccount(store, world)))).toEqual(digests);
  await expectUnchanged();
  await expect(server.getContact(cleoUUID)).rejects.toMatchObject(isErased);
  await expect(browser.createContact(ofCleo)).rejects.toMatchObject(isErased);
  expect(await browser.createContact(ofDan)).toEqual(dan);
  expect(await browser.getContact(dan.contactUUID)).toMatchObject({ fields: { contactFirstname: 'Dan' } });
  expect(await store.findAccess(newServerToken.hash)).toMatchObject({ account, kind: 'server' });
  expect(await store.findAccess(revoked.hash)).toBeUndefined();
  expect((await store.listRefused({ account, beyond: 0, limit: 9 })).requests).toMatchObject([
    { input, ...refusal, robot: true },
  ]);
  expect(await site.events({ beyond: page.next as number })).toEqual(rest);
  const last = rest.at(-1)?.sequence as number;
  expect(await server.log({ userUUID: 'visitor-dan-00001', eventUUID: 'event-after-return' })).toEqual([
    { kept: true },
  ]);
  expect((await site.events()).at(-1)?.sequence).toBeGreaterThan(last);
  expect(await listName('of a file again')).toBe(1_000_002);
  // Erases a contact whose request is stored only as a key.
  await eraseWhole(site, ann.contactUUID);
  await expect(server.createContact(ofAnn)).rejects.toMatchObject(isErased);

  await copyVerified(back, again, 4);
  expect(await browser.createContact(ofDan)).toEqual(dan);
  await expect(server.createContact(ofAnn)).rejects.toMatchObject(isErased);
  expect(await server.logAt(time + day, ...events)).toMatchObject([
    duplicate,
    { refused: 'erased_contact' },
    { refused: 'erased_contact' },
    duplicate,
    duplicate,
  ]);
});

test('copies data that was originally stored in PostgreSQL to a file, unchanged', async () => {
  const servers = await newDatabase();
  await open(servers);
  await createSites(4, 21);
  await copyVerified(servers, newFile(), 4);
});

test('completes in the copy an erasure that was still deleting events', async () => {
  const [servers, back] = [await newDatabase(), newFile()];
  // Opens the store as a command, which does not delete the events, unlike a server.
  await open(servers, 'command');
  const site = await createSite(store);
  const { server } = site;
  const { contactUUID } = await server.createContact();
  await server.log({ eventUUID: 'event-of-erased-1' }, { contactUUID, userUUID: null });
  expect(await site.erase(contactUUID)).toMatchObject({ complete: false });
  await close();
  await copyStore({ from: servers, to: back, onProgress: () => {} });
  await open(back);
  expect(await site.events()).toEqual([]);
  await close();
  await open(back, 'server');
  await eraseWhole(site, contactUUID);
  expect(await site.erase(contactUUID)).toMatchObject({ complete: true, deletedEvents: 2 });
  expect(await server.log({ eventUUID: 'event-of-erased-1' })).toEqual([duplicate]);
});

test('refuses to copy a database that is empty, in use or incomplete', async () => {
  const servers = await newDatabase();
  const copying = (from: string) => copyStore({ from, to: newFile(), onProgress: () => {} });
  await expect(copying(servers)).rejects.toThrow('no Firsthand tables');
  await open(servers);
  await createSite(store);
  await expect(copying(servers)).rejects.toThrow('is in use');
  await close();

  const file = newFile();
  await open(file);
  await (await createSite(store)).server.log({});
  await close();
  const halfCopied = await newDatabase();
  const interrupt = () => {
    throw new Error('interrupted');
  };
  await expect(copyStore({ from: file, to: halfCopied, onProgress: interrupt })).rejects.toThrow('interrupted');
  await expect(copying(halfCopied)).rejects.toThrow('is not complete');
  await copying(servers);
});
