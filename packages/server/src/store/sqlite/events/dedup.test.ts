import { beforeEach, expect, test } from 'vitest';
import { day, newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import type { EventOutcome } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine, type WriteEngine } from '../engine.ts';

const start = Date.UTC(2026, 0, 1, 9);
const far = 1_500;
const kept = { kept: true };
const duplicate = { kept: false, duplicate: true };

let db: Connection;
let engine: WriteEngine;
beforeEach(() => {
  db = openMemory();
  engine = createWriteEngine(db);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
});

/** Logs an event so many days after the start; a new one, unless it is named. */
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
const tidyUp = () => {
  while (engine.maintain() !== null);
};
/** Without those of today, which are in memory. */
const remembered = () => db.prepare('SELECT count(*) FROM event_repeat').pluck().get();

test('what was sent is known after the clock was years ahead for a moment', () => {
  expect(logOn(0, once)).toEqual(kept);
  logOn(far);
  tidyUp();
  for (let days = 0; days <= 7; days += 1) {
    expect(logOn(days, once), `${days} days later`).toEqual(duplicate);
    logOn(days);
    tidyUp();
  }
});

test('what was sent by a clock that was years ahead is known when it is put right', () => {
  expect(logOn(far, once)).toEqual(kept);
  for (let days = 0; days <= 7; days += 1) expect(logOn(days, once), `${days} days later`).toEqual(duplicate);
});

test('days go on after a clock that was years ahead, so that what is old is forgotten all the same', () => {
  logOn(0, once);
  logOn(far);
  for (let days = 1; days <= 40; days += 1) {
    logOn(days);
    tidyUp();
  }
  expect(remembered()).toBe(8);
  expect(logOn(40, once)).toEqual(kept);
});

test('days go on from one server to the next', () => {
  logOn(far);
  for (let days = 1; days <= 40; days += 1) {
    engine = createWriteEngine(db);
    logOn(days);
    tidyUp();
  }
  expect(remembered()).toBe(8);
});

test('a clock that is set to and fro over midnight makes no days', () => {
  logOn(far, once);
  for (let swing = 0; swing < 50; swing += 1) {
    logOn(100 + (swing % 2));
    tidyUp();
  }
  expect(logOn(101, once)).toEqual(duplicate);
});

test('a clock that was at 1970 for a while makes no difference when it is put right', () => {
  logOn(0, once);
  for (let days = -19_000; days < -18_998; days += 1) logOn(days);
  logOn(1);
  tidyUp();
  expect(logOn(7, once)).toEqual(duplicate);
});

test('whatever order eventUUIDs come in, each is kept once', () => {
  const ids = ['m', 'a', 'z', 'b', 'y', '\ud800', '~', 'n'].map((first) => `${first}-event`);
  for (const eventUUID of ids) expect(logOn(0, { eventUUID }), eventUUID).toEqual(kept);
  for (const days of [0, 1, 7]) {
    if (days > 0) expect(logOn(days, { eventUUID: `zz-day-${days}` })).toEqual(kept);
    for (const eventUUID of ids) expect(logOn(days, { eventUUID }), `${eventUUID}, day ${days}`).toEqual(duplicate);
  }
  // A server that has just started: the blocks say what it was sent.
  engine = createWriteEngine(db);
  expect(logOn(7, { eventUUID: 'zz-day-7' })).toEqual(duplicate);
  expect(logOn(7, { eventUUID: 'zzz' })).toEqual(kept);
});

test('an event beside a call that fails is tried again by itself, and kept once', () => {
  expect(logOn(0, { eventUUID: 'b' })).toEqual(kept);
  const callOf = (eventUUID: string) => ({
    name: 'logEvents',
    request: { account: 1, token: 1, browser: false, receivedTime: start, events: [newEvent({ eventUUID })] },
  });
  const [first, second] = engine.write([callOf('d'), { name: 'logEvents', request: null }]);
  expect(first).toEqual({ value: [kept] });
  expect(second).toHaveProperty('error');
  expect(['b', 'c', 'd'].map((eventUUID) => logOn(0, { eventUUID }))).toEqual([duplicate, kept, duplicate]);
});

test('what was kept before the kinds of tokens were told apart is a repeat for both, until it is old', () => {
  const [earlier, latest] = [once, { eventUUID: 'event-sent-last' }];
  logOn(0, earlier);
  // Writes those of the day before; the latest is in its block only.
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
    for (const browser of [true, false]) expect(logOn(days, {}, browser)).toEqual(kept);
    tidyUp();
  }
  expect(db.prepare('SELECT count(*) FROM event_repeat_of_either').pluck().get()).toBe(0);
  for (const browser of [true, false]) expect(logOn(11, latest, browser)).toEqual(kept);
});
