import { beforeEach, expect, test } from 'vitest';
import { day, newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import type { EventOutcome } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine, type WriteEngine } from '../engine.ts';

const start = Date.UTC(2026, 0, 1, 9);
const far = 1_500;
const stored = { kept: true };
const duplicate = { kept: false, duplicate: true };

let db: Connection;
let engine: WriteEngine;
beforeEach(() => {
  db = openMemory();
  engine = createWriteEngine(db);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
});

/** Logs an event, by default a new event, the given number of days after the start. */
const logOn = (days: number, changes: { eventUUID?: string } = {}, browser = false) => {
  const request = {
    account: 1,
    token: 1,
    browser,
    receivedTime: start + days * day,
    events: [newEvent(changes)],
  };
  const [outcome] = engine.write([{ name: 'logEvents', request }]);
  if (!outcome || 'error' in outcome) throw outcome?.error;
  return (outcome.value as EventOutcome[])[0];
};
const once = { eventUUID: 'event-sent-twice' };
const runMaintenance = () => {
  while (engine.maintain() !== null);
};
/** Counts the stored keys, which excludes today's keys, because they are in memory. */
const countStoredKeys = () => db.prepare('SELECT count(*) FROM event_repeat').pluck().get();

test('recognizes a repeat after the clock was briefly years ahead', () => {
  expect(logOn(0, once)).toEqual(stored);
  logOn(far);
  runMaintenance();
  for (let days = 0; days <= 7; days += 1) {
    expect(logOn(days, once), `${days} days later`).toEqual(duplicate);
    logOn(days);
    runMaintenance();
  }
});

test('recognizes a repeat after a clock that was years ahead is corrected', () => {
  expect(logOn(far, once)).toEqual(stored);
  for (let days = 0; days <= 7; days += 1) expect(logOn(days, once), `${days} days later`).toEqual(duplicate);
});

test('continues to count days after the clock was years ahead, and deletes old keys', () => {
  logOn(0, once);
  logOn(far);
  for (let days = 1; days <= 40; days += 1) {
    logOn(days);
    runMaintenance();
  }
  expect(countStoredKeys()).toBe(8);
  expect(logOn(40, once)).toEqual(stored);
});

test('continues to count days when another server takes over', () => {
  logOn(far);
  for (let days = 1; days <= 40; days += 1) {
    engine = createWriteEngine(db);
    logOn(days);
    runMaintenance();
  }
  expect(countStoredKeys()).toBe(8);
});

test('adds no days if the clock jumps back and forth around midnight', () => {
  logOn(far, once);
  for (let swing = 0; swing < 50; swing += 1) {
    logOn(100 + (swing % 2));
    runMaintenance();
  }
  expect(logOn(101, once)).toEqual(duplicate);
});

test('recognizes a repeat after the clock was temporarily set to 1970', () => {
  logOn(0, once);
  for (let days = -19_000; days < -18_998; days += 1) logOn(days);
  logOn(1);
  runMaintenance();
  expect(logOn(7, once)).toEqual(duplicate);
});

test('stores each eventUUID once, in any order', () => {
  const ids = ['m', 'a', 'z', 'b', 'y', '\ud800', '~', 'n'].map((first) => `${first}-event`);
  for (const eventUUID of ids) expect(logOn(0, { eventUUID }), eventUUID).toEqual(stored);
  for (const days of [0, 1, 7]) {
    if (days > 0) expect(logOn(days, { eventUUID: `zz-day-${days}` })).toEqual(stored);
    for (const eventUUID of ids) expect(logOn(days, { eventUUID }), `${eventUUID}, day ${days}`).toEqual(duplicate);
  }
  // Restarts the server, which reads the keys from the blocks.
  engine = createWriteEngine(db);
  expect(logOn(7, { eventUUID: 'zz-day-7' })).toEqual(duplicate);
  expect(logOn(7, { eventUUID: 'zzz' })).toEqual(stored);
});

test('stores an event once if another call in its commit fails and the event is retried alone', () => {
  expect(logOn(0, { eventUUID: 'b' })).toEqual(stored);
  const callOf = (eventUUID: string) => ({
    name: 'logEvents',
    request: { account: 1, token: 1, browser: false, receivedTime: start, events: [newEvent({ eventUUID })] },
  });
  const [first, second] = engine.write([callOf('d'), { name: 'logEvents', request: null }]);
  expect(first).toEqual({ value: [stored] });
  expect(second).toHaveProperty('error');
  expect(['b', 'c', 'd'].map((eventUUID) => logOn(0, { eventUUID }))).toEqual([duplicate, stored, duplicate]);
});

test('treats an event stored before token kinds were distinguished as a repeat for both kinds, until the event is old', () => {
  const [earlier, latest] = [once, { eventUUID: 'event-sent-last' }];
  logOn(0, earlier);
  // Writes the previous day's keys. The latest key is then only in its block.
  logOn(1, latest);
  db.exec(`
    INSERT INTO event_repeat_of_either SELECT day, eventUUID, holder FROM event_repeat;
    DELETE FROM event_repeat;
    UPDATE event_block SET events = json_remove(events, '$.server'), checksum = NULL`);
  engine = createWriteEngine(db);
  for (const browser of [true, false]) {
    expect([earlier, latest].map((event) => logOn(2, event, browser))).toEqual([duplicate, duplicate]);
  }
  for (let days = 2; days <= 10; days += 1) {
    for (const browser of [true, false]) expect(logOn(days, {}, browser)).toEqual(stored);
    runMaintenance();
  }
  expect(db.prepare('SELECT count(*) FROM event_repeat_of_either').pluck().get()).toBe(0);
  for (const browser of [true, false]) expect(logOn(11, latest, browser)).toEqual(stored);
});
