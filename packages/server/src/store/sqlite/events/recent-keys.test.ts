// Tests keys that have not been written to event_repeat yet.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  ann,
  day,
  laptop,
  newAccount,
  newContact,
  newEvent,
  newToken,
  phone,
} from '../../../../test/fixtures/store.ts';
import type { EventOutcome, NewEvent } from '../../store.ts';
import type { Call } from '../calls.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine, type WriteEngine } from '../engine.ts';
import { createEventLogWriter } from '../event-log/event-log.ts';
import { createSequencer } from '../transactions/sequencer.ts';
import { createRecentKeys } from './recent-keys.ts';

let db: Connection;
let engine: WriteEngine;
beforeEach(() => {
  db = openMemory();
  engine = createWriteEngine(db);
  const catalogues = { profile: [{ id: 'staff', browser: false }] };
  engine.write([{ name: 'createAccount', request: newAccount({ catalogues, tokens: [newToken('server')] }) }]);
});

const caller = { account: 1, token: 1, browser: false };
const logOf = (events: Partial<NewEvent>[], receivedTime = 0): Call => ({
  name: 'logEvents',
  request: { ...caller, receivedTime, events: events.map((event) => newEvent({ userUUID: laptop, ...event })) },
});
const outcomesOf = (call: Call) => {
  const [outcome] = engine.write([call]);
  if (!outcome || 'error' in outcome) throw outcome?.error;
  return (outcome.value as EventOutcome[]).map(({ kept }) => kept);
};
const log = (...events: Partial<NewEvent>[]) => outcomesOf(logOf(events));
const once = { eventUUID: 'event-sent-twice' };
const written = () => db.prepare<[], number>('SELECT count(*) FROM event_repeat').pluck().get() as number;
const many = (count: number) => Array.from({ length: count }, () => ({}));
const runMaintenance = () => {
  while (engine.maintain() !== null);
};

test('recognizes a repeat of the same holder before its key is written', () => {
  runMaintenance();
  expect(log(once, once, { ...once, userUUID: phone })).toEqual([true, false, true]);
  expect(log(once, { ...once, userUUID: phone })).toEqual([false, false]);
  runMaintenance();
  expect(written()).toBe(0);
});

test('writes a thousand keys together and still recognizes repeats', () => {
  runMaintenance();
  log(once, ...many(1_022));
  runMaintenance();
  expect(written()).toBe(0);
  log({});
  runMaintenance();
  expect(written()).toBe(1_024);
  expect(log(once)).toEqual([false]);
});

test('writes keys in a commit if there is no time between commits', () => {
  expect(log(once, ...many(9_000)).every((kept) => kept)).toBe(true);
  expect(written()).toBe(8_192);
  expect(log(once)).toEqual([false]);
});

test('recovers the keys from compacted and uncompacted blocks after a crash', () => {
  log(once, ...many(50));
  log(...many(100));
  engine = createWriteEngine(db);
  expect(log(once)).toEqual([false]);
  expect(written()).toBe(151);
  log(...many(50));
  runMaintenance();
  engine = createWriteEngine(db);
  runMaintenance();
  expect(written()).toBe(201);
  expect(log(once)).toEqual([false]);
});

test('writes the previous day’s keys when a day starts', () => {
  log(once);
  expect(outcomesOf(logOf([{ ...once }, {}], day))).toEqual([false, true]);
  expect(written()).toBe(1);
});

test('forgets only the events that were rolled back', () => {
  log({ eventUUID: 'event-committed' });
  db.exec(`
    CREATE TEMP TRIGGER fault BEFORE INSERT ON event_block
    BEGIN SELECT RAISE(ABORT, 'broken'); END`);
  expect(() => log(once)).toThrow('broken');
  db.exec('DROP TRIGGER fault');
  expect(log(once, { eventUUID: 'event-committed' })).toEqual([true, false]);
});

test('keeps a commit’s keys when one of its calls is undone', () => {
  const eventLog = createEventLogWriter(db);
  const sequencer = createSequencer(db);
  const recentKeys = createRecentKeys(db, sequencer, eventLog);
  db.exec('BEGIN');
  expect(recentKeys.has('event-sent-twice', 1, 0)).toBe(false);
  recentKeys.add(0, { ...once, holder: 1, server: 0 });
  eventLog.append({
    ...newEvent(once),
    ...{
      eventID: 1,
      sequence: sequencer.nextSequence(),
      day: 0,
      account: 1,
      user: 1,
      contact: null,
      receivedTime: 0,
      timeReplaced: 0,
      server: 0,
    },
  });
  recentKeys.undo?.();
  // The key is either in memory or has been written by now.
  expect(recentKeys.has('event-sent-twice', 1, 0) || written() === 1).toBe(true);
  db.exec('COMMIT');
});

test('stores events in a commit with refused calls that had already written something', async () => {
  const eventUUIDs = async () => {
    const request = { account: 1, order: 'asc', limit: 10 };
    const page = (await createReadEngine(db)({ name: 'getEvents', request })) as { events: { eventUUID: string }[] };
    return page.events.map(({ eventUUID }) => eventUUID);
  };
  log({ eventUUID: 'event-committed' });
  // Logs these events on the next day, so that keys are written, and from an existing user, so that the server searches
  // for repeats.
  const refused = (): Call => ({
    name: 'createContact',
    request: {
      ...newContact({ userUUID: laptop, fields: { contactProfileID: 'staff' }, requestUUID: 'request-sent-twice' }),
      ...{ ...caller, browser: true, verified: false, time: day },
    },
  });
  const [logged, ...others] = engine.write([logOf([once]), refused(), refused()]);
  expect(logged).toEqual({ value: [{ kept: true }] });
  expect(others).toMatchObject([{ error: { code: 'id_not_for_browser' } }, { error: { code: 'id_not_for_browser' } }]);
  expect(await eventUUIDs()).toEqual(['event-committed', 'event-sent-twice']);
  expect(log(once)).toEqual([false]);
});

test('recognizes repeats of events that another process has logged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  const path = join(folder, 'firsthand.db');
  ensureFile(path);
  db = openConnection(path, 'write');
  engine = createWriteEngine(db);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
  log({});
  const other = openConnection(path, 'write');
  createWriteEngine(other).write([logOf([once])]);
  other.close();
  expect(log(once)).toEqual([false]);
  db.close();
  rmSync(folder, { recursive: true });
});

test('recognizes a repeat of an erased event, even if it was erased before its key was written', async () => {
  const contact = { ...newContact({ userUUID: laptop, address: ann }), ...caller, verified: true };
  engine.write([{ name: 'createContact', request: contact }]);
  log(once);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  runMaintenance();
  expect(written()).toBe(0);
  expect(log(once)).toEqual([false]);
  const page = await createReadEngine(db)({ name: 'getEvents', request: { account: 1, order: 'asc', limit: 10 } });
  expect(page).toMatchObject({ events: [] });
});

test('loses only the keys in a damaged block', () => {
  log(once);
  log({ eventUUID: 'event-as-sent' });
  db.exec("UPDATE event_block SET events = replace(events, 'event-as-sent', 'event-as-lent')");
  engine = createWriteEngine(db);
  expect(log(once, { eventUUID: 'event-as-sent' })).toEqual([false, true]);
});
