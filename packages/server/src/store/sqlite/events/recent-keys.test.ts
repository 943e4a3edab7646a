// What is not written into event_repeat yet, through all that may happen to it meanwhile.
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

const asker = { account: 1, token: 1, browser: false };
const logOf = (events: Partial<NewEvent>[], receivedTime = 0): Call => ({
  name: 'logEvents',
  request: { ...asker, receivedTime, events: events.map((event) => newEvent({ userUUID: laptop, ...event })) },
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
const tidyUp = () => {
  while (engine.maintain() !== null);
};

test('an event is known at once, by its own holder, before anything of it is written apart', () => {
  tidyUp();
  expect(log(once, once, { ...once, userUUID: phone })).toEqual([true, false, true]);
  expect(log(once, { ...once, userUUID: phone })).toEqual([false, false]);
  tidyUp();
  expect(written()).toBe(0);
});

test('a thousand are written together, and known as before', () => {
  tidyUp();
  log(once, ...many(1_022));
  tidyUp();
  expect(written()).toBe(0);
  log({});
  tidyUp();
  expect(written()).toBe(1_024);
  expect(log(once)).toEqual([false]);
});

test('where there is no time between commits, the commit itself writes them', () => {
  expect(log(once, ...many(9_000)).every((kept) => kept)).toBe(true);
  expect(written()).toBe(8_192);
  expect(log(once)).toEqual([false]);
});

test('after a crash their blocks tell what was sent, compacted or not', () => {
  log(once, ...many(50));
  log(...many(100));
  engine = createWriteEngine(db);
  expect(log(once)).toEqual([false]);
  expect(written()).toBe(151);
  log(...many(50));
  tidyUp();
  engine = createWriteEngine(db);
  tidyUp();
  expect(written()).toBe(201);
  expect(log(once)).toEqual([false]);
});

test('those of the day before are written when a day begins', () => {
  log(once);
  expect(outcomesOf(logOf([{ ...once }, {}], day))).toEqual([false, true]);
  expect(written()).toBe(1);
});

test('what was rolled back is not known, and what stands is', () => {
  log({ eventUUID: 'event-that-stands' });
  db.exec(`
    CREATE TEMP TRIGGER fault BEFORE INSERT ON event_block
    BEGIN SELECT RAISE(ABORT, 'broken'); END`);
  expect(() => log(once)).toThrow('broken');
  db.exec('DROP TRIGGER fault');
  expect(log(once, { eventUUID: 'event-that-stands' })).toEqual([true, false]);
});

test('what a call of the same commit undoes leaves the others known', () => {
  const eventLog = createEventLogWriter(db);
  const sequencer = createSequencer(db);
  const latest = createRecentKeys(db, sequencer, eventLog);
  db.exec('BEGIN');
  expect(latest.has('event-sent-twice', 1, 0)).toBe(false);
  latest.add(0, { ...once, holder: 1, server: 0 });
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
  latest.undo?.();
  // Held in memory, or written by now.
  expect(latest.has('event-sent-twice', 1, 0) || written() === 1).toBe(true);
  db.exec('COMMIT');
});

test('what is kept with calls that are refused stands, though they wrote', async () => {
  const eventUUIDs = async () => {
    const request = { account: 1, order: 'asc', limit: 10 };
    const page = (await createReadEngine(db)({ name: 'getEvents', request })) as { events: { eventUUID: string }[] };
    return page.events.map(({ eventUUID }) => eventUUID);
  };
  log({ eventUUID: 'event-that-stands' });
  // On the day after, so that there is something to write, and of a user that is known: it is looked for what it sent.
  const refused = (): Call => ({
    name: 'createContact',
    request: {
      ...newContact({ userUUID: laptop, fields: { contactProfileID: 'staff' }, requestUUID: 'request-sent-twice' }),
      ...{ ...asker, browser: true, verified: false, time: day },
    },
  });
  const [kept, ...others] = engine.write([logOf([once]), refused(), refused()]);
  expect(kept).toEqual({ value: [{ kept: true }] });
  expect(others).toMatchObject([{ error: { code: 'id_not_for_browser' } }, { error: { code: 'id_not_for_browser' } }]);
  expect(await eventUUIDs()).toEqual(['event-that-stands', 'event-sent-twice']);
  expect(log(once)).toEqual([false]);
});

test('what another process has logged meanwhile is known', () => {
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

test('an erased event stays erased when it is sent again, however soon it was erased', async () => {
  const contact = { ...newContact({ userUUID: laptop, address: ann }), ...asker, verified: true };
  engine.write([{ name: 'createContact', request: contact }]);
  log(once);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  tidyUp();
  expect(written()).toBe(0);
  expect(log(once)).toEqual([false]);
  const page = await createReadEngine(db)({ name: 'getEvents', request: { account: 1, order: 'asc', limit: 10 } });
  expect(page).toMatchObject({ events: [] });
});

test('a damaged block takes only its own events with it', () => {
  log(once);
  log({ eventUUID: 'event-as-sent' });
  db.exec("UPDATE event_block SET events = replace(events, 'event-as-sent', 'event-as-lent')");
  engine = createWriteEngine(db);
  expect(log(once, { eventUUID: 'event-as-sent' })).toEqual([false, true]);
});
