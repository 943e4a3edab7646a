import { expect, test } from 'vitest';
import { newMigratedDatabase, querySQL, simulateSettingOff } from '../../../../test/fixtures/postgres/databases.ts';
import { simulateCitus } from '../../../../test/fixtures/postgres/simulated-citus.ts';
import { day } from '../../../../test/fixtures/store.ts';
import type { Chunks, DatabaseExport, ExportedRow, ExportedTable } from '../../database-export.ts';
import { migrateStore, openStore } from '../../open.ts';
import type { EventRow } from '../../rules/event-row.ts';
import { isTransient } from '../database/connection.ts';
import { copyInto } from './copy.ts';
import { openExport } from './export.ts';

const time = Date.UTC(2028, 0, 31);
const lastDay = time / day + 1;
/** The number of events, on two days in two months, with more than a page on each day. */
const count = 12_000;
const users = 2_500;

/**
 * Leaves gaps for statements and unused numbers, and a large gap within a day, because a cluster's coordinator can skip
 * numbers.
 */
const sequenceOf = (nth: number): number => 2 * nth + 1 + (nth >= count / 4 ? 2 ** 36 : 0);
const accountOf = (nth: number): number => 1 + (nth % 2);
const dayOf = (nth: number): number => (nth < count / 2 ? lastDay - 1 : lastDay);

const eventOf = (nth: number): EventRow => ({
  sequence: sequenceOf(nth),
  day: dayOf(nth),
  account: accountOf(nth),
  user: nth % 7 === 0 ? null : 1 + (nth % users),
  contact: nth % 7 === 0 || nth % 11 === 0 ? 1 + (nth % 5) : null,
  eventID: 1 + (nth % 3),
  eventUUID: `event-${nth}`,
  eventTime: time + nth,
  receivedTime: time + nth + 1,
  timeReplaced: nth % 13 === 0 ? 1 : 0,
  server: null,
  attributes: nth % 2 === 0 ? [] : [['note', `"of" ${nth}`]],
});

function* allEvents() {
  for (let nth = 0; nth < count; nth += 1_000) yield Array.from({ length: 1_000 }, (_, more) => eventOf(nth + more));
}

const rowsOf: Partial<Record<ExportedTable, ExportedRow[]>> = {
  account: [1, 2].map((account) => ({
    account,
    accountUUID: `account-${account}`,
    accountName: 'A shop',
    accountOrigin: '["https://shop.example"]',
    accountTimezone: 'UTC',
    accountCurrency: 'EUR',
    createdTime: time,
    strict: account - 1,
    browserCatalogue: 2 - account,
    enrich: account - 1,
    defaultProfileID: 'customer',
    userIDIsEmailaddress: 2 - account,
    nextEventID: 1_000_000 + account,
  })),
  user: Array.from({ length: users }, (_, nth) => ({
    user: nth + 1,
    account: 1,
    userUUID: `visitor-${nth}`,
    firstDay: null,
    lastDay: null,
    days: 0,
    createdTime: time,
  })),
  account_day: [1, 2].flatMap((account) =>
    [lastDay - 1, lastDay].map((each) => {
      const from = (each === lastDay ? count / 2 : 0) + account - 1;
      return {
        account,
        day: each,
        count: count / 4,
        bytes: count * 50,
        firstSequence: sequenceOf(from),
        lastSequence: sequenceOf(from + count / 2 - 2),
        firstTime: time,
        lastTime: time + count,
      };
    }),
  ),
};

const exported: DatabaseExport = {
  position: { sequence: sequenceOf(count), day: lastDay, clockDay: lastDay, secret: Buffer.alloc(32, 1) },
  numbers: { contact: 50, claim: 60, refused_request: 70 },
  rows: (table) => [rowsOf[table] ?? []],
  eventsAfter: allEvents,
  close: () => {},
};

const collect = async <Item>(chunks: Chunks<Item>): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const chunk of chunks) items.push(...chunk);
  return items;
};

test('returns everything that was copied, in order, even across many pages', async () => {
  const databaseURL = await newMigratedDatabase();
  await copyInto(databaseURL, exported, () => {});
  const opened = await openExport(databaseURL);
  const { position, numbers } = exported;
  expect({ position: opened.position, numbers: opened.numbers }).toEqual({ position, numbers });
  const events = await collect(opened.eventsAfter(0));
  expect(events.length).toBe(count);
  expect(events.every((event, nth) => JSON.stringify(event) === JSON.stringify(eventOf(nth)))).toBe(true);
  expect(await collect(opened.eventsAfter(sequenceOf(count - 3)))).toEqual([eventOf(count - 2), eventOf(count - 1)]);
  for (const table of ['account', 'user', 'account_day'] as const) {
    const rows = await collect(opened.rows(table));
    expect(rows).toHaveLength(rowsOf[table]?.length as number);
    expect(rows).toEqual(expect.arrayContaining(rowsOf[table]?.slice(-4) as ExportedRow[]));
  }
  await opened.close();
});

test('prevents the distribution of tables while the export reads them', async () => {
  const databaseURL = await newMigratedDatabase();
  await simulateCitus(databaseURL);
  await copyInto(databaseURL, { ...exported, eventsAfter: () => [[eventOf(0)]] }, () => {});
  const opened = await openExport(databaseURL);
  await expect(migrateStore(databaseURL, { citus: true, withoutWorkers: true })).rejects.toThrow(
    /is connected to the database/,
  );
  expect(await collect(opened.eventsAfter(0))).toEqual([eventOf(0)]);
  await opened.close();
});

test('reads fewer events at a time if they are large', async () => {
  const databaseURL = await newMigratedDatabase();
  const many = 2_000;
  const large = (nth: number): EventRow =>
    nth < many / 2 ? eventOf(nth) : { ...eventOf(nth), attributes: [['note', 'x'.repeat(20_000)]] };
  const firstSequence = sequenceOf(0);
  const row = {
    account: 1,
    day: lastDay - 1,
    count: many,
    bytes: 0,
    firstSequence,
    lastSequence: sequenceOf(many - 1),
  };
  const days = [{ ...row, firstTime: time, lastTime: time + many }];
  await copyInto(
    databaseURL,
    {
      ...exported,
      rows: (table) => [table === 'account_day' ? days : (rowsOf[table] ?? [])],
      eventsAfter: () => [Array.from({ length: many }, (_, nth) => ({ ...large(nth), account: 1 }))],
    },
    () => {},
  );
  const opened = await openExport(databaseURL);
  const pages: number[] = [];
  for await (const events of opened.eventsAfter(0)) pages.push(events.length);
  expect(pages.reduce((sum, length) => sum + length)).toBe(many);
  // The first page has 50 events, because only every other number belongs to an event. Each further page has twice as
  // many, until the events are large.
  expect(pages.slice(0, 4)).toEqual([50, 100, 200, 400]);
  expect(Math.max(...pages.slice(5))).toBeLessThanOrEqual(400);
  await opened.close();
});

test('refuses a second export, and releases the locks of a refused export', async () => {
  const databaseURL = await newMigratedDatabase();
  await migrateStore(databaseURL, { citus: false });
  const opened = await openExport(databaseURL);
  expect(opened.position).toMatchObject({ sequence: 0, day: 0, clockDay: 0 });
  expect(await collect(opened.eventsAfter(0))).toEqual([]);
  await expect(openExport(databaseURL)).rejects.toThrow('is in use');
  await opened.close();
  await querySQL(databaseURL, 'INSERT INTO migration VALUES (9000, now())');
  await expect(openExport(databaseURL)).rejects.toThrow('written by a newer Firsthand');
  await querySQL(databaseURL, 'DELETE FROM migration WHERE number = 9000');
  await (await openExport(databaseURL)).close();
});

test('fails at the end if a writer has connected during the export', async () => {
  const databaseURL = await newMigratedDatabase();
  await migrateStore(databaseURL, { citus: false });
  const opened = await openExport(databaseURL);
  const writer = await openStore({ databaseURL, role: 'command', onFatal: () => {} });
  await expect(collect(opened.eventsAfter(0))).rejects.toThrow('connected to the source database during the copy');
  await writer.close();
  await opened.close();
});

test('refuses a standby, because its locks do not block writes on the primary', async () => {
  const databaseURL = await newMigratedDatabase();
  await migrateStore(databaseURL, { citus: false });
  await querySQL(databaseURL, "CREATE FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'");
  await querySQL(
    databaseURL,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`,
  );
  await expect(openExport(databaseURL)).rejects.toThrow('is a standby');
});

test('fails when its connection is lost, and leaves no locks', async () => {
  const databaseURL = await newMigratedDatabase();
  await migrateStore(databaseURL, { citus: false });
  const opened = await openExport(databaseURL);
  await querySQL(
    databaseURL,
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  );
  await expect(collect(opened.rows('account'))).rejects.toSatisfy(isTransient);
  await opened.close();
  await (await openExport(databaseURL)).close();
});

test.each([
  ['postgres://shop:secret@127.0.0.1:1/firsthand', 'ECONNREFUSED'],
  ['postgres://shop:secret@127.0.0.1:port/firsthand', 'Invalid URL'],
])('reports that it cannot open %s, without the password', async (url, reason) => {
  const error = await openExport(url).then(
    () => undefined,
    (error: Error) => error,
  );
  expect(error?.message).toMatch(/^the source database \(--from\) cannot be opened: /);
  expect(error?.message).toContain(reason);
  expect(error?.message).not.toContain('secret');
});

test('rethrows the reason why a database does not sync its commits', async () => {
  const databaseURL = await newMigratedDatabase();
  await simulateSettingOff(databaseURL, 'fsync');
  await expect(openExport(databaseURL)).rejects.toThrow(/fsync = off: turn it on/);
});
