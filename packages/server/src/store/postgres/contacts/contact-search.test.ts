/** Tests searches on PostgreSQL while many contacts wait to be indexed. */
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { day } from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';
import type { ContactSearch, SearchPosition, Store } from '../../store.ts';
import { lockKeys } from '../database/connection.ts';

const contacts = 60;
let store: Store;
let site: Site;
let client: pg.Client;
let databaseURL: string;

beforeAll(async () => {
  databaseURL = await newMigratedDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  site = await createSite(store);
  const uuids: string[] = [];
  for (let nth = 0; nth < contacts; nth += 1) {
    const contact = { address: `person-${nth}@example.com`, userUUID: null, tags: nth % 4 === 0 ? ['vip'] : [] };
    uuids.push((await site.server.createContact({ ...contact, time: site.time + nth })).contactUUID);
    await site.server.logAt(site.time + ((nth * 7) % contacts) * day, {
      userUUID: null,
      contactUUID: uuids[nth] as string,
    });
  }
  await site.merge(uuids[1] as string, uuids[40] as string);
  await site.erase(uuids[8] as string);
  client = new pg.Client(databaseURL);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await store.close();
});

const readAll = async (search: Partial<ContactSearch>): Promise<string[]> => {
  const uuids: string[] = [];
  for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
    const page = await store.searchContact({ account: site.account, limit: 7, ...search, beyond });
    uuids.push(...page.contacts.map(({ contactUUID }) => contactUUID));
    beyond = page.next;
  }
  return uuids;
};
const isIndexed = async () =>
  (await client.query('SELECT NOT EXISTS (SELECT 1 FROM contact_changed) AS done')).rows[0].done;

test('returns the same pages while many contacts wait to be indexed', async () => {
  await expect.poll(isIndexed).toBe(true);
  const searches: Partial<ContactSearch>[] = [
    {},
    { descending: true },
    { contactTagID: 'vip' },
    { contactTagID: 'vip', sort: 'seen' },
    { sort: 'seen', descending: true },
    { seenFrom: site.time + 10 * day, seenTo: site.time + 30 * day },
  ];
  const readSearches = async () => {
    const results: string[][] = [];
    for (const search of searches) results.push(await readAll(search));
    return results;
  };
  const indexed = await readSearches();
  expect(indexed[0]).toHaveLength(contacts - 2);
  // Simulates another server that updates the index. A row lock would also block searches, which wait for writers.
  const locking = new pg.Client(databaseURL);
  await locking.connect();
  await locking.query(`SELECT pg_advisory_lock(${lockKeys.maintenance} + ${site.account})`);
  await client.query(
    'INSERT INTO contact_changed (account, contact) SELECT account, contact FROM contact, generate_series(1, 200) AS nth',
  );
  const waiting = await readSearches();
  expect((await client.query('SELECT count(*) > 8000 AS many FROM contact_changed')).rows[0].many).toBe(true);
  await locking.end();
  expect(waiting).toEqual(indexed);
});

test('feeds no erased contact to reports, even while the index still lists it', async () => {
  const { contactUUID } = await site.server.createContact({
    ...{ address: 'erased@example.com', userUUID: null, tags: ['short-lived'], time: site.time },
  });
  await expect.poll(isIndexed).toBe(true);
  const readFed = async () => {
    const conditions = [{ contactTagID: 'short-lived' }];
    const { contacts } = await store.feedContacts({ account: site.account, conditions, beyond: null, limit: 1_000 });
    return contacts[0]?.length;
  };
  expect(await readFed()).toBe(1);
  const locking = new pg.Client(databaseURL);
  onTestFinished(() => locking.end());
  await locking.connect();
  await locking.query(`SELECT pg_advisory_lock(${lockKeys.maintenance} + ${site.account})`);
  await site.erase(contactUUID);
  expect(await isIndexed()).toBe(false);
  expect(await readFed()).toBe(0);
  await client.query(
    'INSERT INTO contact_changed (account, contact) SELECT account, contact FROM contact, generate_series(1, 200) AS nth',
  );
  expect(await readFed()).toBe(0);
});

test('indexes a change whose number JavaScript cannot represent', async () => {
  await expect.poll(isIndexed).toBe(true);
  const change = -(2n ** 53n) - 1n;
  await client.query('INSERT INTO contact_changed SELECT account, contact, $1 FROM contact LIMIT 1', [change]);
  expect(await isIndexed()).toBe(false);
  await site.server.createContact({ address: 'another@example.com', userUUID: null, time: site.time });
  await expect.poll(isIndexed, { timeout: 30_000 }).toBe(true);
});
