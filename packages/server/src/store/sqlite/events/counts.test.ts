import { expect, test } from 'vitest';
import { hour, newAccount, newContact, newEvent, newToken, phone, quarter } from '../../../../test/fixtures/store.ts';
import type { NewEvent } from '../../store.ts';
import type { Call } from '../calls.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';
import { createEventLogReader, type EventLogReader } from '../event-log/event-log.ts';
import { createCounter } from './counts.ts';

const day = 24 * hour;

test('yields to other reads after each eventID', () => {
  const db = openMemory();
  const events = [1, 2, 3, 3].map((eventID) => newEvent({ eventID, eventTime: eventID * quarter }));
  createWriteEngine(db).write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'logEvents', request: { account: 1, token: 1, browser: false, receivedTime: 0, events } },
  ]);
  const { countEvents, getEventDefinitions } = createCounter(db);
  const edges = [0, 2 * quarter, 3 * quarter, 9 * quarter];
  const counting = countEvents({ account: 1, edges, users: false });
  for (const _ of events.slice(1)) expect(counting.next()).toEqual({ done: false, value: undefined });
  expect(counting.next()).toEqual({ done: true, value: [{ events: 1 }, { events: 1 }, { events: 2 }] });
  const defining = getEventDefinitions(1);
  for (const _ of events.slice(1)) expect(defining.next().done).toBe(false);
  expect(defining.next()).toMatchObject({ done: true, value: [{ count: 1 }, { count: 1 }, { count: 2 }] });
});

test('returns plausible times for events that are deleted while it searches for them', () => {
  const db = openMemory();
  const engine = createWriteEngine(db);
  const caller = { account: 1, token: 1, browser: false };
  const log = (receivedTime: number, ...events: Partial<NewEvent>[]): Call => ({
    name: 'logEvents',
    request: { ...caller, receivedTime, events: events.map((event) => newEvent({ userUUID: phone, ...event })) },
  });
  const contact = { ...newContact({ time: 0 }), ...caller, verified: true };
  const erased = { userUUID: null, contactUUID: contact.newContactUUID, eventTime: 0 };
  engine.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
    // Logs a day before the others, where the search starts, with more events than the search examines in one step.
    log(0, { eventID: 2, eventTime: 0 }, ...Array.from({ length: 2_100 }, () => ({ eventTime: quarter }))),
    log(day, { eventTime: 1 }, erased),
    { name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } },
  ]);
  while (engine.maintain() !== null);
  const defining = createCounter(db).getEventDefinitions(1);
  expect(defining.next().done).toBe(false);
  engine.write([{ name: 'deleteEventsBefore', request: { time: 2 * day, limit: 10_000 } }]);
  let last = defining.next();
  while (!last.done) last = defining.next();
  expect(last.value).toEqual([{ eventID: 1, eventName: '1', count: 2_101, firstTime: 0, lastTime: quarter }]);
});

test('searches no further than necessary for the first remaining event', () => {
  const db = openMemory();
  const engine = createWriteEngine(db);
  const caller = { account: 1, token: 1, browser: false };
  const log = (event: Partial<NewEvent>): Call => ({
    name: 'logEvents',
    request: { ...caller, receivedTime: 0, events: [newEvent({ userUUID: phone, ...event })] },
  });
  const contact = { ...newContact({ time: 0 }), ...caller, verified: true };
  engine.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
    log({ userUUID: null, contactUUID: contact.newContactUUID, eventTime: 0 }),
  ]);
  // Writes one event per block.
  engine.write([log({ eventTime: 5 })]);
  for (let nth = 0; nth < 100; nth += 1) engine.write([log({ eventTime: quarter + nth })]);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  while (db.prepare('SELECT 1 FROM erased_contact').get() !== undefined) engine.maintain();
  const reader = createEventLogReader(db);
  let visitedBlocks = 0;
  const counting: EventLogReader = {
    ...reader,
    *find(...query) {
      for (const result of reader.find(...query)) {
        visitedBlocks += 1;
        yield result;
      }
    },
  };
  const defining = createCounter(db, counting).getEventDefinitions(1);
  let step = defining.next();
  while (!step.done) step = defining.next();
  expect(step.value).toEqual([{ eventID: 1, eventName: '1', count: 101, firstTime: 5, lastTime: quarter + 99 }]);
  expect(visitedBlocks).toBeLessThanOrEqual(3);
});
