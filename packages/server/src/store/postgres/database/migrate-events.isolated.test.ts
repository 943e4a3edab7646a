// Tests that migration 0002, which changes how events are stored, does not change what reads return.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { newDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { day, laptop, phone } from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';
import type { EventQuery, NewEvent, Store, StoredEvent } from '../../store.ts';
import { monthSQL } from '../days/partitions.ts';
import { readBody } from '../events/event-body.ts';
import type { StoredRow } from '../events/event-presenter.ts';

const lastMigration = vi.hoisted(() => ({ number: Infinity }));
vi.mock('../../migrations.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../migrations.ts')>();
  // Returns the part of 0031 that changes the repeat keys.
  const repeatsOf = (sql: string) =>
    sql.slice(sql.indexOf('-- Who sent which eventUUID'), sql.indexOf('-- What triggers list'));
  const readMigrations = (folder: URL) =>
    original.readMigrations(folder).flatMap(({ number, sql }) => {
      if (number <= lastMigration.number) return { number, sql };
      return number === 31 ? { number, sql: repeatsOf(sql) } : [];
    });
  return { readMigrations, findNewestMigration: (folder: URL) => readMigrations(folder).at(-1)?.number };
});

const openStores: Store[] = [];
afterEach(async () => {
  lastMigration.number = Infinity;
  await Promise.all(openStores.splice(0).map((store) => store.close()));
});
const open = async (databaseURL: string): Promise<Store> => {
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  openStores.push(store);
  return store;
};

/** Logs events of users, contacts and both, on days in two months. */
const logAllKinds = async (site: Site): Promise<void> => {
  const { contactUUID } = await site.server.createContact({ userUUID: phone });
  const { time } = site;
  const events: Partial<NewEvent>[] = [
    {},
    { timeReplaced: true },
    { eventTime: 0 },
    { eventTime: time - 127 },
    { eventTime: time - 128 },
    { eventTime: time + 300_000 },
    { eventTime: Date.UTC(9999, 11, 31), timeReplaced: true },
    ...[8, 9, 10, 11, 12, 36, 63, 64].map((length) => ({ eventUUID: 'Zz9-_'.repeat(13).slice(0, length) })),
    { attributes: [['page', '/']] },
    { attributes: [['empty', '']] },
    {
      attributes: [
        ['Straße', 'naïve 日本 😀'],
        ['quoted', 'o’neil "said" \\ \'so\''],
        ['control', '\u0001\t\n\r\u007f\u2028\ufffd'],
      ],
    },
    {
      attributes: [
        ['127', 'a'.repeat(127)],
        ['128', 'a'.repeat(128)],
        ['129', '€'.repeat(43)],
      ],
    },
    { attributes: Array.from({ length: 100 }, (_, nth) => [`attribute ${nth}`, `€${nth}`.repeat(400)] as const) },
    { attributes: [['long', Array.from({ length: 500 }, (_, nth) => (nth * 7919) % 9973).join(' ')]] },
  ];
  const subjects = [{ userUUID: laptop }, { userUUID: null, contactUUID }, { userUUID: phone, contactUUID }];
  // Each of these eventUUIDs is stored once, on the first day.
  for (const receivedTime of [time, time + day, time + 31 * day]) {
    for (const subject of subjects)
      await site.server.logAt(receivedTime, ...events.map((event) => ({ ...event, ...subject })));
  }
};

/** Returns rows as text, because comparing text is a thousand times faster than comparing bytes. */
const eventRows = (databaseURL: string) => querySQL(databaseURL, 'SELECT event::text FROM event ORDER BY sequence');
const repeatRows = (databaseURL: string) =>
  querySQL<{ account: number; holder: string; key: string; day: number }>(
    databaseURL,
    'SELECT * FROM event_repeat ORDER BY holder, key, day',
  );
const structure = (databaseURL: string) =>
  querySQL(databaseURL, "SELECT tablename, indexdef FROM pg_indexes WHERE tablename LIKE 'event%' ORDER BY indexdef");

/** Restores the event tables of 0001, and keeps what other migrations created. */
const revertEvents = async (databaseURL: string): Promise<void> => {
  const first = readFileSync(new URL('../migrations/0.1.0/0001-first.sql', import.meta.url), 'utf8');
  const repeats = await repeatRows(databaseURL);
  const events = await querySQL<StoredRow & { body: Buffer }>(databaseURL, 'SELECT * FROM event');
  const rows = events.map((row) => ({ ...row, ...readBody(row.body, Number(row.eventTime)) }));
  const days = new Set([...rows, ...repeats].map(({ day }) => day));
  const partitions = [...days].map(
    (day) => `${monthSQL(day)}; CREATE TABLE event_repeat_${day} PARTITION OF event_repeat FOR VALUES IN (${day});`,
  );
  lastMigration.number = 3;
  const client = new pg.Client(databaseURL);
  await client.connect();
  await client.query(
    `DROP VIEW event_told; DROP FUNCTION read_event_body; DROP TABLE event, event_repeat, erased_repeat;
     ALTER TABLE kept_day DROP COLUMN keyed; DELETE FROM migration WHERE number > 1;
     ${first.slice(first.indexOf('-- Written once, never changed.'))}; ${partitions.join('\n')}`,
  );
  for (const row of rows) {
    await client.query(
      `INSERT INTO event (holder, sequence, "user", "eventTime", "receivedTime", account, day, "eventID", "timeReplaced",
         "eventUUID", attributes)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...[row.holder, row.sequence, row.user, row.eventTime, row.receivedTime, row.account, row.day, row.eventID],
        ...[row.timeReplaced === 1, row.eventUUID, JSON.stringify(row.attributes.flat())],
      ],
    );
  }
  for (const { holder, key, day } of repeats)
    await client.query('INSERT INTO event_repeat (holder, key, day) VALUES ($1, $2, $3)', [holder, key, day]);
  await client.end();
};

const pageOf = async (store: Store, query: Omit<EventQuery, 'order' | 'limit'>): Promise<readonly StoredEvent[]> =>
  (await store.getEvents({ order: 'desc', limit: 1_000, ...query })).events;

test('migrates events so that each reads as before and repeats are recognized', async () => {
  const databaseURL = await newDatabase();
  const site = await createSite(await open(databaseURL));
  await logAllKinds(site);
  const { account, server } = site;
  const queries = [
    {},
    { userUUID: laptop },
    { userUUID: phone },
    { attrID: 'page', attrValue: '/' },
    { attrID: '129' },
  ];
  const readAll = (store: Store) => Promise.all(queries.map((query) => pageOf(store, { account, ...query })));
  const pages = await readAll(site.store);
  const [rows, repeats] = await Promise.all([eventRows(databaseURL), repeatRows(databaseURL)]);
  const indexes = await structure(databaseURL);
  // Tests the view that operators use.
  const viewed = await querySQL(
    databaseURL,
    `SELECT "eventUUID", "receivedTime"::float8, "timeReplaced", attributes FROM event_told ORDER BY sequence DESC`,
  );
  expect(viewed).toEqual(
    pages[0]?.map(({ eventUUID, receivedTime, timeReplaced, attributes }) => {
      return { eventUUID, receivedTime, timeReplaced, attributes };
    }),
  );
  expect(pages.map(({ length }) => length)).toEqual([141, 47, 47, 9, 9]);
  await openStores.splice(0)[0]?.close();

  await revertEvents(databaseURL);
  expect(await structure(databaseURL)).not.toEqual(indexes);
  const store = await open(databaseURL);
  expect(await eventRows(databaseURL)).toEqual(rows);
  expect(await repeatRows(databaseURL)).toEqual(repeats);
  expect(await structure(databaseURL)).toEqual(indexes);
  expect(await readAll(store)).toEqual(pages);

  const last = pages[0]?.[0] as StoredEvent;
  const again = { ...last, userUUID: phone, externalID: null, mayAddName: false, attributes: [] };
  const { token, browser } = server;
  const log = (...events: NewEvent[]) =>
    store.logEvents({ account, token, browser, receivedTime: last.receivedTime, events });
  expect(await log(again, { ...again, eventUUID: 'event-after-it' })).toEqual([
    { kept: false, duplicate: true },
    { kept: true },
  ]);
  expect(await pageOf(store, { account })).toHaveLength(142);
});

test('prevents an older server from starting a new day, because that day’s repeats would have no key', async () => {
  const databaseURL = await newDatabase();
  const store = await open(databaseURL);
  const { account, server, time } = await createSite(store);
  await server.log({});
  const next = Math.floor(time / day) + 1;
  const startDay = querySQL(
    databaseURL,
    `UPDATE position SET day = ${next}, "clockDay" = ${next}; INSERT INTO kept_day VALUES (${next}) ON CONFLICT DO NOTHING;
     ${monthSQL(next)}; CREATE TABLE event_repeat_${next} PARTITION OF event_repeat FOR VALUES IN (${next})`,
  );
  await expect(startDay).rejects.toThrow(/column "day" of relation "position" does not exist/);
  const again = { userUUID: phone, eventUUID: 'event-sent-twice' };
  expect(await server.logAt(time + day, again)).toEqual([{ kept: true }]);
  expect(await server.logAt(time + day, again)).toEqual([{ kept: false, duplicate: true }]);
  expect(await pageOf(store, { account, userUUID: phone })).toHaveLength(1);
});

test('leaves events unchanged that Citus has distributed, and explains what to do', async () => {
  const databaseURL = await newDatabase();
  await (await open(databaseURL)).close();
  openStores.length = 0;
  await revertEvents(databaseURL);
  await querySQL(
    databaseURL,
    `CREATE TABLE pg_dist_partition (logicalrelid regclass, partkey text);
     INSERT INTO pg_dist_partition VALUES ('event', 'holder')`,
  );
  await expect(open(databaseURL)).rejects.toThrow(/Citus has spread.*migrate --citus an empty one/);
  expect(await querySQL(databaseURL, 'SELECT "receivedTime" FROM event')).toEqual([]);
});
