import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyStore, openStore } from '../../src/store/open.ts';
import { digestAccount } from '../../src/store/verifying.ts';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';
import { newDatabase } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { ann, day, newToken } from '../fixtures/store.ts';
import { historyArbitrary, playHistory } from '../fixtures/world.ts';

const onFatal = (error: Error) => {
  throw error;
};

/** Fills a file with accounts and their histories. Returns the last account. */
const fill = async (databaseURL: string, accounts: number) => {
  const store = await openStore({ databaseURL, role: 'server', onFatal });
  await store.createToken({ ...newToken('operator'), account: null });
  let site: Site | undefined;
  for (const past of fc.sample(historyArbitrary, { numRuns: accounts, seed: 5 })) {
    site = await createSite(store);
    await playHistory(site, past);
  }
  const last = site as Site;
  const { contactUUID } = await last.server.createContact({
    address: 'kept@example.com',
    userUUID: 'visitor-kept-0001',
  });
  const erased = await last.server.createContact({ address: 'erased@example.com', userUUID: 'visitor-erased-01' });
  await last.server.createContact({
    address: 'told@example.com',
    userUUID: 'visitor-told-0001',
    fields: { contactFirstname: 'Tilda' },
    tags: ['vip', 'early'],
    attributes: [
      ['size', 'S'],
      ['colour', 'red'],
    ],
  });
  await last.update({ address: 'told@example.com', removedTags: ['early'], attributes: [['colour', null]] });
  await last.server.log(
    {
      eventUUID: 'event-known',
      userUUID: 'visitor-kept-0001',
      attributes: [
        ['tab\tand \\', 'line\nbreak'],
        ['é', '☃'],
      ],
    },
    { eventUUID: 'event-with-both', userUUID: 'visitor-both-0001', contactUUID },
    { eventUUID: 'event-of-erased', userUUID: 'visitor-erased-01' },
  );
  await last.server.createContact({ address: ann, userUUID: 'visitor-again-001', requestUUID: 'request-known' });
  const onlyID = { externalID: 'customer-kept', address: undefined, userUUID: null };
  await last.server.createContact({ ...onlyID, fields: { contactTitle: 'Dr' } });
  const claim = { externalID: 'customer-claimed', address: 'claimed@example.com', userUUID: 'visitor-claims-01' };
  await last.acceptClaim((await last.browser.createContact(claim)).contactUUID);
  while (!(await last.erase(erased.contactUUID)).complete) await new Promise((resolve) => setTimeout(resolve, 5));
  await store.close();
  return { site: last, contactUUID, erasedUUID: erased.contactUUID };
};

test('copies everything in a file, and lets a server continue from there', async () => {
  const { path, env } = temporaryDatabase();
  const from = `sqlite:${path}`;
  const { site, contactUUID, erasedUUID } = await fill(from, 4);
  const to = await newDatabase();
  const { code, stdout, stderr } = await firsthand(['copy', '--verify'], {
    ...env,
    FROM_DATABASE_URL: from,
    TO_DATABASE_URL: to,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/identical$/gm)).toHaveLength(4);
  const audit = await firsthandJSON(['audit', 'list', '--limit', '100'], env);
  expect(audit.length).toBeGreaterThan(5);
  expect(audit[0]).toMatchObject({ action: 'copy' });
  expect(await firsthandJSON(['audit', 'list', '--limit', '100'], { DATABASE_URL: to })).toEqual(audit);

  const store = await openStore({ databaseURL: to, role: 'server', onFatal });
  const { account, accountUUID, server, time } = site;
  const caller = { account, token: server.token, browser: false };
  const event = {
    eventID: 1,
    externalID: null,
    eventName: null,
    mayAddName: false,
    eventTime: time,
    timeReplaced: false,
    attributes: [],
    contactUUID: null,
  };
  const events = [
    { ...event, userUUID: 'visitor-kept-0001', eventUUID: 'event-known' },
    { ...event, userUUID: 'visitor-both-0001', eventUUID: 'event-with-both' },
    { ...event, userUUID: 'visitor-erased-01', eventUUID: 'event-of-erased' },
    { ...event, userUUID: 'visitor-kept-0001', eventUUID: 'event-after' },
    { ...event, userUUID: null, contactUUID: erasedUUID, eventUUID: 'event-too-late' },
  ];
  expect(await store.logEvents({ ...caller, receivedTime: time + day, events })).toMatchObject([
    { kept: false, duplicate: true },
    { kept: false, duplicate: true },
    { kept: false, duplicate: true },
    { kept: true },
    { refused: 'erased_contact' },
  ]);
  const [newest] = (await store.getEvents({ account, order: 'desc', limit: 1 })).events;
  expect(newest).toMatchObject({ eventUUID: 'event-after', contactUUID });
  const page = await store.getEvents({ account, userUUID: 'visitor-both-0001', order: 'desc', limit: 9 });
  expect(page.events).toMatchObject([{ eventUUID: 'event-with-both', contactUUID }]);
  expect(await store.findAccount(accountUUID)).toBe(account);
  await store.close();
});

test('does not serve an interrupted copy, and resumes it', async () => {
  const { path } = temporaryDatabase();
  const from = `sqlite:${path}`;
  const { site } = await fill(from, 2);
  const to = await newDatabase();
  const interrupted = new Error('interrupted');
  const onProgress = () => {
    throw interrupted;
  };
  await expect(copyStore({ from, to, onProgress })).rejects.toBe(interrupted);
  await expect(openStore({ databaseURL: to, role: 'server', onFatal })).rejects.toThrow(/copy .* is not complete/);
  await copyStore({ from, to, onProgress: () => {} });
  const stores = await Promise.all(
    [from, to].map((databaseURL) => openStore({ databaseURL, role: 'command', onFatal })),
  );
  const [expected, digest] = await Promise.all(stores.map((store) => digestAccount(store, site)));
  expect(digest).toEqual(expected);
  expect(digest?.events).toBeGreaterThan(0);
  const query = { account: site.account, token: 0, browser: false, include: [], address: 'told@example.com' };
  const [contact, copied] = await Promise.all(stores.map((store) => store.getContact(query)));
  expect(copied).toEqual(contact);
  for (const [externalID, address] of [
    ['customer-kept', ''],
    ['customer-claimed', 'claimed@example.com'],
  ]) {
    const named = { ...query, address: undefined, externalID };
    const [contact, copied] = await Promise.all(stores.map((store) => store.getContact(named)));
    expect(copied).toEqual(contact);
    expect(copied).toMatchObject({
      fields: { contactExternalID: externalID, contactEmailaddress: address },
      claimed: [],
    });
  }
  expect(copied).toMatchObject({
    fields: { contactFirstname: 'Tilda' },
    tags: [
      { tagID: 'early', opt: false },
      { tagID: 'vip', opt: true },
    ],
    attributes: [['size', 'S']],
  });
  await Promise.all(stores.map((store) => store.close()));
  await expect(copyStore({ from, to, onProgress: () => {} })).rejects.toThrow(/already has accounts/);
});

test('refuses to copy a file that a server is using', async () => {
  const { path } = temporaryDatabase();
  const from = `sqlite:${path}`;
  const store = await openStore({ databaseURL: from, role: 'server', onFatal });
  await expect(copyStore({ from, to: await newDatabase(), onProgress: () => {} })).rejects.toThrow(/server/);
  await store.close();
});

test.each([
  [['copy', '--from', 'x.db', '--to', 'postgres://x/y'], /--from must be sqlite:/],
  [['copy', '--from', 'sqlite::memory:', '--to', 'postgres://x/y'], /--from must be sqlite:/],
  [['copy', '--from', 'sqlite:x.db', '--to', 'mysql://x'], /--to must be postgres:/],
  [['copy', '--from', 'postgres://x/y', '--to', 'postgres://x/z'], /--to must be sqlite:/],
  [['migrate', '--database-url', 'sqlite:x.db'], /SQLite file/],
])('reports the problem with %j', async (args, message) => {
  const { code, stderr } = await firsthand(args, {});
  expect(code).not.toBe(0);
  expect(stderr).toMatch(message);
});
