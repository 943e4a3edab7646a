import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DatabaseExport, ExportedRow, ExportedTable } from '../../database-export.ts';
import type { EventRow } from '../../rules/event-row.ts';
import { createIdempotencyKeys, type SentByServer, toBytes } from '../../rules/idempotency-keys.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { takeLock } from '../database/lock.ts';
import { createReadEngine } from '../engine.ts';
import { copyInto } from './copy.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'of-its-own', 'firsthand.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const today = 20_000;
const time = today * 86_400_000;
const secret = Buffer.alloc(32, 1);
const count = 3;

const eventOf = (sequence: number): EventRow => ({
  sequence,
  day: today,
  account: 1,
  user: 1,
  contact: null,
  eventID: 1,
  eventUUID: `event-${sequence}`,
  eventTime: time,
  receivedTime: time,
  timeReplaced: 0,
  server: 0,
  attributes: [['note', `of ${sequence}`]],
});
/** Returns in turn: a browser token, a server token, and an unknown token kind. */
const kindOf = (sequence: number) => ([0, 1, null] as const)[(sequence - 1) % 3] as SentByServer;
const keyOf = (sequence: number): Buffer =>
  toBytes(createIdempotencyKeys(secret).eventKey(1, `event-${sequence}`, kindOf(sequence)));

const account: ExportedRow = {
  account: 1,
  accountUUID: 'account-one',
  accountName: 'A shop',
  accountOrigin: '[]',
  accountTimezone: 'UTC',
  accountCurrency: 'EUR',
  strict: 0,
  browserCatalogue: 0,
  enrich: 1,
  defaultProfileID: 'customer',
  userIDIsEmailaddress: 1,
  nextEventID: 1_000_000,
  createdTime: time,
};
const token: ExportedRow = {
  token: 1,
  tokenID: 'token-one',
  account: 1,
  kind: 'server',
  tokenName: '',
  hash: 'ab',
  text: null,
  createdTime: time,
  createdBy: null,
  expiresTime: null,
  lastUsedTime: null,
  revokedTime: null,
  session: 0,
  memberID: null,
};
const accountDay: ExportedRow = {
  account: 1,
  day: today,
  count,
  bytes: 0,
  firstSequence: 1,
  lastSequence: count,
  firstTime: time,
  lastTime: time,
};

/** Exports a few events. The key of the second event has expired, and there is a key for a deleted event. */
const createExport = (changes: Partial<Record<ExportedTable, ExportedRow[]>> = {}): DatabaseExport => {
  const rows: Partial<Record<ExportedTable, ExportedRow[]>> = {
    account: [account],
    token: [token],
    user: [
      { user: 1, account: 1, userUUID: 'visitor-one', firstDay: today, lastDay: today, days: 0, createdTime: time },
    ],
    account_day: [accountDay],
    erased_repeat: [1, 3, 99].map((sequence) => ({ day: today, hash: keyOf(sequence) })),
    ...changes,
  };
  return {
    position: { sequence: 7, day: today, clockDay: today, secret },
    numbers: { contact: 50, claim: 60, refused_request: 70 },
    rows: (table) => [rows[table] ?? []],
    eventsAfter: () => [[eventOf(1), eventOf(2)], [], [eventOf(3)]],
    close: () => {},
  };
};

const ignored = () => {};

test('creates the file under its name only when it is complete, and never replaces another file', async () => {
  const progressCalls: object[] = [];
  await copyInto(path, createExport(), (progress) => {
    expect(existsSync(path)).toBe(false);
    progressCalls.push(progress);
  });
  expect(progressCalls).toEqual([
    { sequence: 2, last: 7, events: 2 },
    { sequence: 3, last: 7, events: 3 },
  ]);
  expect(readdirSync(join(folder, 'of-its-own')).sort()).toEqual(['firsthand.db', 'firsthand.db-lock']);

  const db = openConnection(path, 'write');
  const request = { account: 1, order: 'asc', limit: 9 } as const;
  const { events } = (await createReadEngine(db)({ name: 'getEvents', request })) as { events: EventRow[] };
  expect(events).toMatchObject([1, 2, 3].map((sequence) => ({ sequence, eventUUID: `event-${sequence}` })));
  expect(db.prepare('SELECT eventUUID, holder, server FROM event_repeat').all()).toEqual([
    { eventUUID: 'event-1', holder: 1, server: 0 },
  ]);
  expect(db.prepare('SELECT eventUUID, holder FROM event_repeat_of_either').all()).toEqual([
    { eventUUID: 'event-3', holder: 1 },
  ]);
  expect(db.prepare('SELECT day, hash FROM erased_repeat').all()).toEqual([{ day: today, hash: keyOf(99) }]);
  expect(db.prepare('SELECT sequence, remembered, day, clockDay, secret FROM position').get()).toEqual({
    sequence: 7,
    remembered: 7,
    day: today,
    clockDay: today,
    secret,
  });
  expect(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'contact'").pluck().get()).toBe(50);
  db.close();

  await expect(copyInto(path, createExport(), ignored)).rejects.toThrow(`${path} already exists`);
  rmSync(path);
  for (const ending of ['-wal', '-journal']) {
    writeFileSync(path + ending, 'of another');
    await expect(copyInto(path, createExport(), ignored)).rejects.toThrow(`${path}${ending} already exists`);
    rmSync(path + ending);
  }
  symlinkSync(join(folder, 'nowhere'), path);
  await expect(copyInto(path, createExport(), ignored)).rejects.toThrow(`${path} already exists`);
  rmSync(path);
  const createAnother = () => writeFileSync(path, 'of another');
  await expect(copyInto(path, createExport(), createAnother)).rejects.toThrow(`${path} already exists`);
  expect(readFileSync(path, 'utf8')).toBe('of another');
  expect(readdirSync(join(folder, 'of-its-own')).sort()).toEqual(['firsthand.db', 'firsthand.db-lock']);
});

test('fails if another connection reads the incomplete copy', async () => {
  const readers: Connection[] = [];
  const read = () => {
    const reader = openConnection(`${path}.copying`, 'read');
    readers.push(reader);
    reader.exec('BEGIN');
    expect(reader.prepare('SELECT count(*) FROM account').pluck().get()).toBe(1);
  };
  await expect(copyInto(path, createExport(), read)).rejects.toThrow(`${path}.copying is being read`);
  expect(readdirSync(join(folder, 'of-its-own'))).toEqual(['firsthand.db-lock']);
  for (const reader of readers) reader.close();
});

test('compacts and indexes events while it copies, like a server', async () => {
  const [pages, perPage] = [10, 72];
  const exported: DatabaseExport = {
    ...createExport({ account_day: [{ ...accountDay, count: pages * perPage, lastSequence: pages * perPage }] }),
    position: { sequence: pages * perPage, day: today, clockDay: today, secret },
    *eventsAfter() {
      for (let page = 0; page < pages; page += 1) {
        yield Array.from({ length: perPage }, (_, nth) => eventOf(page * perPage + nth + 1));
      }
    },
  };
  await copyInto(path, exported, ignored, { eventsPerSegment: 2 * perPage });
  const db = openConnection(path, 'write');
  // The remaining events are indexed by readers, in memory.
  expect(db.prepare('SELECT after, through FROM event_segment').all()).toEqual([{ after: 0, through: 8 * perPage }]);
  const request = { account: 1, userUUID: 'visitor-one', order: 'asc', limit: 1_000 } as const;
  const { events } = (await createReadEngine(db)({ name: 'getEvents', request })) as { events: EventRow[] };
  expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: pages * perPage }, (_, nth) => nth + 1));
  db.close();
});

test('leaves no files if the disk is full, and the error names the file', async () => {
  const fill = () => {
    const db = openConnection(`${path}.copying`, 'write');
    try {
      db.pragma('max_page_count = 1');
      db.exec('CREATE TABLE more AS SELECT zeroblob(1000000)');
    } finally {
      db.close();
    }
  };
  await expect(copyInto(path, createExport(), fill)).rejects.toThrow(
    `${path} cannot be created: database or disk is full`,
  );
  expect(readdirSync(join(folder, 'of-its-own'))).toEqual(['firsthand.db-lock']);
});

test('leaves no files if it is interrupted, and restarts after a crash', async () => {
  const interrupt = () => {
    throw new Error('interrupted');
  };
  await expect(copyInto(path, createExport(), interrupt)).rejects.toThrow('interrupted');
  expect(readdirSync(join(folder, 'of-its-own'))).toEqual(['firsthand.db-lock']);
  for (const ending of ['', '-wal', '-shm']) writeFileSync(`${path}.copying${ending}`, 'half of a copy');
  const unlock = takeLock(path);
  await expect(copyInto(path, createExport(), ignored)).rejects.toThrow('is being served already');
  unlock();
  await copyInto(path, createExport(), ignored);
  expect(readdirSync(join(folder, 'of-its-own')).sort()).toEqual(['firsthand.db', 'firsthand.db-lock']);
});

test.each<[string, Partial<Record<ExportedTable, ExportedRow[]>>, string]>([
  ['a wrong event count', { account_day: [{ ...accountDay, count: 4 }] }, 'it should have 4 events but has 3'],
  ['dangling references', { token: [{ ...token, account: 2 }] }, 'it has dangling references'],
  ['duplicate rows', { token: [token, token] }, 'UNIQUE constraint failed'],
])('refuses to copy a database with %s', async (_, changes, message) => {
  await expect(copyInto(path, createExport(changes), ignored)).rejects.toThrow(message);
  expect(existsSync(path)).toBe(false);
});
