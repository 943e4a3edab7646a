// Tests that an erasure also removes what is written concurrently, and blocks no unrelated writes.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { waitForLockWaits } from '../../../../test/fixtures/postgres/sql.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import {
  ann,
  ben,
  contactChange,
  expectRefusal,
  laptop,
  newContact,
  newEvent,
  newID,
  phone,
  tablet,
} from '../../../../test/fixtures/store.ts';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { openStore } from '../../open.ts';
import type { Store } from '../../store.ts';
import { lockKeys } from '../database/connection.ts';
import { toBodies } from '../events/event-body.ts';

const rounds = 20;
/** The maximum delay within a round, so that some writes come before an erasure, some during it and some after. */
const maxDelayMilliseconds = 12;

const openStores: Store[] = [];
afterEach(async () => {
  await Promise.all(openStores.splice(0).map((store) => store.close()));
});

const openServers = async (databaseURL: string): Promise<[Store, Store]> => {
  const open = async () => {
    const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
    openStores.push(store);
    return store;
  };
  return [await open(), await open()];
};

/** Returns writes that run concurrently with an erasure and refer to the contact or to one of its users. */
const writesOf = (
  store: Store,
  site: Site,
  { contactUUID, handle, linkID, requestUUID }: Record<'contactUUID' | 'handle' | 'linkID' | 'requestUUID', string>,
) => {
  const { account, server, browser, time } = site;
  const asServer = { account, token: server.token, browser: false, verified: true };
  const asBrowser = { account, token: browser.token, browser: true, verified: false };
  const log = (event: object) =>
    store.logEvents({ ...asServer, receivedTime: time, events: [newEvent({ eventTime: time, ...event })] });
  const another = newID('another-visitor');
  return [
    () => log({ userUUID: null, contactUUID }),
    () => log({ userUUID: another, contactUUID }),
    () => log({ userUUID: laptop }),
    () => log({ userUUID: phone, contactUUID }),
    () => store.createContact({ ...asServer, ...newContact({ userUUID: another, address: ann, time }) }),
    () => store.createContact({ ...asServer, ...newContact({ userUUID: laptop, address: ben, time }) }),
    () =>
      store.createContact({ ...asBrowser, ...newContact({ userUUID: newID('visitor-of-ann'), address: ann, time }) }),
    () =>
      store.createContact({
        ...asBrowser,
        ...newContact({ userUUID: phone, address: ann, requestUUID, time }),
      }),
    () => store.linkUser({ account, token: server.token, userUUID: newID('visitor-of-ann'), contactUUID, time }),
    () => store.unlinkUser({ account, token: server.token, userUUID: laptop, time }),
    () => store.voidLinks({ account, restore: false, links: { linkID }, time }),
    () => store.voidLinks({ account, restore: false, links: { tokenID: browser.tokenID }, time }),
    () => store.acceptClaim({ account, claimID: handle, time }),
    () => store.voidClaim({ account, claimID: handle, restore: false, time }),
    () => store.updateContact({ account, ...contactChange({ contactUUID, time, fields: { contactTitle: 'Dr' } }) }),
    () =>
      store.updateContact({ account, ...contactChange({ contactUUID, time, address: newID('ann@another.example') }) }),
    () =>
      store.addRefused({
        account,
        token: server.token,
        time,
        sender: 0,
        requests: [
          { operation: 'updateContact', input: { contactUUID }, address: null, code: 'invalid_field', message: '' },
        ],
      }),
  ];
};

/** The codes with which such a write can be refused. */
const expectedCodes = /^(erased_contact|unknown_(contact|claim|link|user)|email_taken)$/;

const remainingRowsSQL = (contacts: string) => `
  SELECT 'event' AS left FROM event WHERE -holder IN (${contacts})
  UNION ALL SELECT 'statement' FROM statement WHERE contact IN (${contacts})
  UNION ALL SELECT 'contact' FROM contact WHERE contact IN (${contacts})
  UNION ALL SELECT 'name' FROM contact_name WHERE contact IN (${contacts})
  UNION ALL SELECT 'address' FROM contact_address WHERE contact IN (${contacts})
  UNION ALL SELECT 'user' FROM contact_user WHERE contact IN (${contacts})
  UNION ALL SELECT 'claim' FROM claim WHERE contact IN (${contacts})
  UNION ALL SELECT 'handle' FROM claim_name WHERE contact IN (${contacts})
  UNION ALL SELECT 'request' FROM request_repeat WHERE contact IN (${contacts})`;

test('refuses or erases everything that refers to a contact during its erasure', async () => {
  const databaseURL = await newMigratedDatabase();
  const [store, other] = await openServers(databaseURL);
  const site = await createSite(store);
  const erased: string[] = [];
  // Records the hidden stretches, whose events must be deleted no matter how late the events are committed.
  await querySQL(
    databaseURL,
    `CREATE TABLE noted AS SELECT * FROM erased_stretch;
     CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO noted SELECT NEW.*; RETURN NEW; END $$;
     CREATE TRIGGER note BEFORE INSERT ON erased_stretch FOR EACH ROW EXECUTE FUNCTION note()`,
  );
  const codes = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    const requestUUID = newID('request');
    const { contactUUID: handle } = await site.browser.createContact({ address: ann, userUUID: phone, requestUUID });
    const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
    await site.server.log({ userUUID: laptop }, { userUUID: phone });
    const [{ linkID } = { linkID: '' }] = (await site.server.getContact(contactUUID, 'link')).links ?? [];
    const [{ contact } = { contact: '' }] = await querySQL<{ contact: string }>(
      databaseURL,
      `SELECT contact FROM contact WHERE "contactUUID" = '${contactUUID}'`,
    );
    erased.push(contact);
    const writes = [store, other].flatMap((each) => writesOf(each, site, { contactUUID, handle, linkID, requestUUID }));
    const writing = Promise.allSettled(
      writes.map(async (write) => {
        await wait(Math.random() * maxDelayMilliseconds);
        return write();
      }),
    );
    await wait((Math.random() * maxDelayMilliseconds) / 2);
    const erasing = [store, other].map((each) =>
      each.eraseContact({ account: site.account, contactUUID, time: site.time }),
    );
    const receipts = await Promise.all(erasing);
    expect(new Set(receipts.map(({ erasedTime }) => erasedTime)).size).toBe(1);
    for (const outcome of await writing) {
      if (outcome.status === 'fulfilled') continue;
      expect(outcome.reason).toBeInstanceOf(Refusal);
      const { code } = outcome.reason as Refusal;
      expect(code).toMatch(expectedCodes);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(
      await querySQL(databaseURL, `SELECT input FROM refused_request WHERE input LIKE '%${contactUUID}%'`),
    ).toEqual([]);
  }
  expect(codes.get('erased_contact')).toBeGreaterThan(0);
  const open = 'SELECT 1 FROM erasure WHERE NOT complete';
  await vi.waitFor(async () => expect(await querySQL(databaseURL, open)).toEqual([]), { ...soon, interval: 50 });
  expect(await querySQL(databaseURL, remainingRowsSQL(erased.join(', ')))).toEqual([]);
  expect(
    await querySQL(
      databaseURL,
      'SELECT 1 FROM noted JOIN event ON holder = noted."user" AND sequence > after AND sequence <= through',
    ),
  ).toEqual([]);
});

/** Opens a separate connection for locks that the test holds. */
const connect = async (databaseURL: string): Promise<pg.Client> => {
  const client = new pg.Client(databaseURL);
  await client.connect();
  return client;
};

const isPending = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => false).catch(() => false), wait(50).then(() => true)]);

test('makes writes that refer to the contact wait and fail, but no other writes', async () => {
  const databaseURL = await newMigratedDatabase();
  const [store, other] = await openServers(databaseURL);
  const site = await createSite(store);
  // Logs the first event of the day before the test, because creating its partition waits for every transaction that
  // uses the table.
  await site.server.log({ userUUID: newID('visitor-of-before') });
  const { contactUUID: handle } = await site.browser.createContact({ address: ann, userUUID: phone });
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  const [{ linkID } = { linkID: '' }] = (await site.server.getContact(contactUUID, 'link')).links ?? [];
  const client = await connect(databaseURL);
  try {
    // Takes the lock of a transaction that stores refused requests, which an erasure takes last.
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(${lockKeys.refused} + ${site.account})`);
    const erasing = site.erase(contactUUID);
    await waitForLockWaits(databaseURL, 1);
    expect(await isPending(erasing)).toBe(true);

    const { account, time } = site;
    const naming = [
      store.linkUser({ account, token: site.server.token, userUUID: newID('visitor-of-ann'), contactUUID, time }),
      store.voidLinks({ account, restore: false, links: { linkID }, time }),
      other.updateContact({ account, ...contactChange({ contactUUID, time, fields: { contactTitle: 'Dr' } }) }),
      store.acceptClaim({ account, claimID: handle, time }),
    ];
    const logging = site.server.log({ userUUID: null, contactUUID });
    const claimFor = (address: string) => {
      const claim = newContact({ userUUID: newID('another-visitor'), address, time });
      return other.createContact({ ...site.browser, ...claim, verified: false });
    };
    // Starts more writes than the server has connections for.
    const claiming = Array.from({ length: 8 }, () => claimFor(ann));
    for (const each of [...naming, ...claiming, logging]) expect(await isPending(each)).toBe(true);
    await claimFor(ben);
    await other.logEvents({
      ...site.browser,
      receivedTime: time,
      events: [newEvent({ eventTime: time, userUUID: newID('another-visitor') })],
    });

    await client.query('COMMIT');
    await erasing;
    for (const each of naming) await expectRefusal(each, 'erased_contact');
    await Promise.all(claiming);
    expect(await logging).toMatchObject([{ kept: false, refused: 'erased_contact' }]);
  } finally {
    await client.end();
  }
});

test('waits for uncommitted links of the contact’s users, and keeps events that these links give to another contact', async () => {
  const databaseURL = await newMigratedDatabase();
  const [store] = await openServers(databaseURL);
  const site = await createSite(store);
  const { contactUUID: bens } = await site.server.createContact({ address: ben, userUUID: tablet });
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.server.log({ userUUID: laptop });
  const client = await connect(databaseURL);
  try {
    // Links the user to another contact, as another server would.
    await client.query(
      `BEGIN;
       SELECT 1 FROM "user" WHERE "userUUID" = '${laptop}' FOR NO KEY UPDATE;
       INSERT INTO statement ("user", sequence, account, contact, verified, voided, claim, token, erased, time)
         SELECT u."user", nextval('event_order'), u.account, c.contact, true, 0, NULL, ${site.server.token}, false, 0
         FROM "user" u, contact c WHERE u."userUUID" = '${laptop}' AND c."contactUUID" = '${bens}'`,
    );
    await site.server.log({ userUUID: laptop, eventUUID: 'event-of-ben' });
    const erasing = site.erase(contactUUID);
    await waitForLockWaits(databaseURL, 1);
    expect(await isPending(erasing)).toBe(true);
    await client.query('COMMIT');
    await erasing;
  } finally {
    await client.end();
  }
  expect(await site.owners()).toEqual({ 'event-of-ben': bens });
});

test('deletes an event that started before the erasure and is committed after it', async () => {
  const databaseURL = await newMigratedDatabase();
  const [store] = await openServers(databaseURL);
  const site = await createSite(store);
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.server.log({ userUUID: laptop });
  const slow = await connect(databaseURL);
  try {
    const [body] = toBodies([
      { ...newEvent({ eventUUID: 'event-slow' }), eventTime: site.time, receivedTime: site.time },
    ]);
    // Stores an event, as another server would.
    await slow.query(
      `BEGIN;
       SELECT pg_advisory_xact_lock_shared(${lockKeys.structure});
       SELECT pg_advisory_xact_lock_shared(${lockKeys.accounts} + ${site.account});
       SELECT pg_advisory_xact_lock_shared(${lockKeys.floors} + last_value) FROM event_order;
       SELECT nextval('event_order');
       INSERT INTO event SELECT holder, currval('event_order'), "user", "eventTime", account, day, "eventID",
         '\\x${body?.toString('hex')}' FROM event`,
    );
    const { account } = site;
    const receipt = await site.erase(contactUUID);
    expect(receipt.complete).toBe(false);
    // Other writes do not wait for the slow event.
    await site.server.log({ userUUID: phone });
    await wait(200);
    expect(await site.erase(contactUUID)).toMatchObject({ complete: false, deletedEvents: 0 });
    await slow.query('COMMIT');
    expect(await store.getEvents({ account, userUUID: laptop, order: 'desc', limit: 9 })).toMatchObject({ events: [] });
    await vi.waitFor(async () => expect((await site.erase(contactUUID)).complete).toBe(true), soon);
    expect(await site.erase(contactUUID)).toMatchObject({ deletedEvents: 2 });
    expect((await querySQL(databaseURL, 'SELECT 1 FROM event')).length).toBe(1);
  } finally {
    await slow.end();
  }
});
