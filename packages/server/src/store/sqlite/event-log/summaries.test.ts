// Tests segment summaries: with deleted events, during indexing, and in older databases.
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
  quarter,
} from '../../../../test/fixtures/store.ts';
import type { CountBucket, EventPage, EventQuery, NewEvent } from '../../store.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { migrate } from '../database/migrate.ts';
import { createWriteEngine, type WriteEngine } from '../engine.ts';
import { createCounter } from '../events/counts.ts';
import { createEventPager } from '../events/event-pages.ts';
import { createEventLogReader, type EventLogReader } from './event-log.ts';

const caller = { account: 1, token: 1, browser: false };
const contact = { ...newContact({ address: ann, userUUID: laptop }), ...caller, verified: true };
const eventsPerSegment = 640;

let db: Connection;
let engine: WriteEngine;
let eventCount: number;

beforeEach(() => {
  db = openConnection(':memory:', 'write');
  createDatabase();
});
const createDatabase = () => {
  migrate(db, ':memory:');
  // Sets a fixed secret, so that false positives are the same in each run.
  db.exec('UPDATE position SET secret = zeroblob(32)');
  eventCount = 0;
  open();
  engine.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
  ]);
};
const open = () => {
  engine = createWriteEngine(db, { eventsPerCompaction: 64, eventsPerSegment });
};

/** Logs events one second apart. A segment has ten blocks. */
const log = (events: number, of: (nth: number) => Partial<NewEvent>) => {
  const batch = Array.from({ length: events }, (_, nth) => {
    eventCount += 1;
    const eventTime = eventCount * 1_000;
    return newEvent({ userUUID: phone, eventUUID: `event-${eventCount}`, eventTime, attributes: [], ...of(nth) });
  });
  engine.write([{ name: 'logEvents', request: { ...caller, receivedTime: 0, events: batch } }]);
};
const runMaintenance = () => {
  while (engine.maintain() !== null);
};
/** Logs segments one by one, because all events would otherwise form a single segment. */
const logSegments = (segments: number, of: (nth: number) => Partial<NewEvent>) => {
  for (let nth = 0; nth < segments; nth += 1) {
    log(eventsPerSegment, (inSegment) => of(nth * eventsPerSegment + inSegment));
    runMaintenance();
  }
};
const segmentsWithSummary = () => db.prepare('SELECT segment FROM segment_summary').pluck().all();

const end = <Value>(steps: Generator<void, Value>): Value => {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
};
const counting = (eventID?: number) =>
  createCounter(db).countEvents({ account: 1, eventID, edges: [0, quarter, day], users: true });
const count = (eventID?: number): CountBucket[] => end(counting(eventID));

/** Returns the matching events, and the number of examined blocks. */
const find = (query: Partial<EventQuery>) => {
  let blocks = 0;
  const reader = createEventLogReader(db);
  const getEvents = createEventPager(db, {
    log: {
      ...reader,
      *find(...query: Parameters<EventLogReader['find']>) {
        for (const match of reader.find(...query)) {
          if (typeof match !== 'number') blocks += 1;
          yield match;
        }
      },
    },
  });
  const page: EventPage = end(getEvents({ account: 1, order: 'asc', limit: 1_000, ...query }));
  return { numbers: page.events.map(({ eventUUID }) => Number(eventUUID.slice('event-'.length))), blocks };
};

const rare = (nth: number): Partial<NewEvent> => ({
  attributes: [['path', `/${nth}`], ...(nth % 1_000 === 100 ? [['coupon', 'welcome'] as const] : [])],
});

test('searches for an attribute only in the blocks that might have it', () => {
  logSegments(3, rare);
  expect(segmentsWithSummary()).toEqual([1, 2, 3]);
  expect(find({ attrID: 'coupon' })).toEqual({ numbers: [101, 1_101], blocks: 2 });
  expect(find({ attrID: 'coupon', attrValue: 'welcome', eventID: 1 })).toEqual({ numbers: [101, 1_101], blocks: 2 });
  expect(find({ attrID: 'path', attrValue: '/900' })).toEqual({ numbers: [901], blocks: 1 });
  expect(find({ attrID: 'coupon', attrValue: 'other' })).toEqual({ numbers: [], blocks: 0 });
});

test('searches for a time only in the blocks that might have it', () => {
  logSegments(3, rare);
  const { numbers, blocks } = find({ from: 700_000, to: 800_000 });
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, nth) => 700 + nth));
  expect(blocks).toBeLessThanOrEqual(4);
});

test('scans an older database’s segments block by block until they have summaries', () => {
  logSegments(3, rare);
  const before = [count(), find({ attrID: 'coupon' }).numbers];
  for (const table of ['segment_summary', 'segment_slice', 'segment_visitors']) db.exec(`DELETE FROM ${table}`);
  expect([count(), find({ attrID: 'coupon' }).numbers]).toEqual(before);
  expect(find({ attrID: 'coupon' }).blocks).toBeGreaterThan(20);
  open();
  runMaintenance();
  expect(segmentsWithSummary()).toEqual([1, 2, 3]);
  expect(find({ attrID: 'coupon' }).blocks).toBe(2);
  expect([count(), find({ attrID: 'coupon' }).numbers]).toEqual(before);
});

test('combines segments with and without summaries', () => {
  logSegments(3, (nth) => ({ userUUID: nth < eventsPerSegment ? laptop : phone }));
  const before = count();
  expect(before.map(({ users }) => users)).toEqual([2, 1]);
  db.exec('DELETE FROM segment_summary WHERE segment = 1');
  expect(count()).toEqual(before);
});

test('counts users only on days that have events at these times', () => {
  const visitors = { 0: laptop, 1: 'user-of-another-time', 2: phone };
  for (const [nth, userUUID] of Object.entries(visitors)) {
    const receivedTime = Number(nth) * day;
    const eventTime = nth === '1' ? receivedTime : 1_000;
    const events = Array.from({ length: eventsPerSegment }, () => newEvent({ userUUID, eventTime }));
    engine.write([{ name: 'logEvents', request: { ...caller, receivedTime, events } }]);
    runMaintenance();
  }
  expect(segmentsWithSummary()).toEqual([1, 2, 3]);
  expect(count()).toEqual([
    { events: 2 * eventsPerSegment, users: 2 },
    { events: 0, users: 0 },
  ]);
});

test('handles an empty segment between others in an older database', () => {
  for (const userUUID of [phone, laptop, phone]) logSegments(1, () => ({ userUUID }));
  for (const table of ['segment_summary', 'segment_slice', 'segment_visitors']) db.exec(`DELETE FROM ${table}`);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  runMaintenance();
  open();
  runMaintenance();
  expect(segmentsWithSummary()).toEqual([1, 2, 3]);
  expect(find({ attrID: 'coupon' })).toEqual({ numbers: [], blocks: 0 });
  expect(count().map(({ users }) => users)).toEqual([1, 1]);
});

test('rewrites a summary that a previous server left incomplete', () => {
  logSegments(2, rare);
  const before = count();
  db.exec('DELETE FROM segment_summary WHERE segment = 2');
  open();
  runMaintenance();
  expect(segmentsWithSummary()).toEqual([1, 2]);
  expect(count()).toEqual(before);
});

/** The laptop's events belong to the contact and are erased with it. */
const mixed = (nth: number): Partial<NewEvent> => ({ userUUID: nth % 3 ? phone : laptop, eventID: 1 + (nth % 2) });

test('does not count an erased visitor, at any point of indexing', () => {
  log(4 * eventsPerSegment, mixed);
  let steps = 0;
  for (; engine.maintain() !== null; steps += 1);
  expect(count(2).map(({ users }) => users)).toEqual([2, 2]);
  for (let before = 1; before < steps; before += 7) {
    db.close();
    db = openConnection(':memory:', 'write');
    createDatabase();
    log(4 * eventsPerSegment, mixed);
    for (let step = 0; step < before; step += 1) engine.maintain();
    engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
    runMaintenance();
    expect(count(2).map(({ users }) => users)).toEqual([1, 1]);
    log(eventsPerSegment, mixed);
    runMaintenance();
    expect(count(2).map(({ users }) => users)).toEqual([1, 2]);
  }
});

test('counts a segment only once if it is indexed or deleted during a count', () => {
  const userOf = (nth: number) => `user-${String(nth % 500).padStart(16, '0')}`;
  log(4 * eventsPerSegment, (nth) => ({ userUUID: userOf(nth) }));
  const expected = count();
  const running = counting();
  let step = running.next();
  while (!step.done) {
    engine.maintain();
    step = running.next();
  }
  expect(step.value).toEqual(expected);
  runMaintenance();
  const last = counting();
  last.next();
  engine.write([{ name: 'deleteEventsBefore', request: { time: day, limit: 4 * eventsPerSegment } }]);
  runMaintenance();
  expect(end(last).every(({ users }) => (users as number) <= 500)).toBe(true);
  expect(count().map(({ users }) => users)).toEqual([0, 0]);
  const newest = db.prepare('SELECT max(segment) FROM event_segment').pluck().get() as number;
  logSegments(1, () => ({}));
  expect(segmentsWithSummary()).toEqual([newest + 1]);
});

test('counts the remaining users exactly when the oldest events are deleted', () => {
  logSegments(2, (nth) => ({ userUUID: nth < 100 ? laptop : phone }));
  expect(count().map(({ users }) => users)).toEqual([2, 1]);
  engine.write([{ name: 'deleteEventsBefore', request: { time: day, limit: 99 } }]);
  expect(count().map(({ users }) => users)).toEqual([2, 1]);
  engine.write([{ name: 'deleteEventsBefore', request: { time: day, limit: 1 } }]);
  expect(count().map(({ users }) => users)).toEqual([1, 1]);
});
