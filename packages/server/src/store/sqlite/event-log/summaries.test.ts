// What is summed up of segments, while events are deleted, segments arranged and databases older than that.
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

const asker = { account: 1, token: 1, browser: false };
const contact = { ...newContact({ address: ann, userUUID: laptop }), ...asker, verified: true };
const eventsPerSegment = 640;

let db: Connection;
let engine: WriteEngine;
let made: number;

beforeEach(() => {
  db = openConnection(':memory:', 'write');
  begin();
});
const begin = () => {
  migrate(db, ':memory:');
  // The same blocks are looked at in vain each time.
  db.exec('UPDATE position SET secret = zeroblob(32)');
  made = 0;
  open();
  engine.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
  ]);
};
const open = () => {
  engine = createWriteEngine(db, { eventsPerCompaction: 64, eventsPerSegment });
};

/** Segments of ten blocks, the events a second after each other. */
const log = (events: number, of: (nth: number) => Partial<NewEvent>) => {
  const batch = Array.from({ length: events }, (_, nth) => {
    made += 1;
    const eventTime = made * 1_000;
    return newEvent({ userUUID: phone, eventUUID: `event-${made}`, eventTime, attributes: [], ...of(nth) });
  });
  engine.write([{ name: 'logEvents', request: { ...asker, receivedTime: 0, events: batch } }]);
};
const tidyUp = () => {
  while (engine.maintain() !== null);
};
/** Segment after segment: at once, they would be one. */
const logSegments = (segments: number, of: (nth: number) => Partial<NewEvent>) => {
  for (let nth = 0; nth < segments; nth += 1) {
    log(eventsPerSegment, (inSegment) => of(nth * eventsPerSegment + inSegment));
    tidyUp();
  }
};
const summed = () => db.prepare('SELECT segment FROM segment_summary').pluck().all();

const end = <Value>(steps: Generator<void, Value>): Value => {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
};
const counting = (eventID?: number) =>
  createCounter(db).countEvents({ account: 1, eventID, edges: [0, quarter, day], users: true });
const count = (eventID?: number): CountBucket[] => end(counting(eventID));

/** The events that are found, and how many blocks were looked at for them. */
const find = (query: Partial<EventQuery>) => {
  let looked = 0;
  const reader = createEventLogReader(db);
  const getEvents = createEventPager(db, {
    log: {
      ...reader,
      *find(...asked: Parameters<EventLogReader['find']>) {
        for (const found of reader.find(...asked)) {
          if (typeof found !== 'number') looked += 1;
          yield found;
        }
      },
    },
  });
  const page: EventPage = end(getEvents({ account: 1, order: 'asc', limit: 1_000, ...query }));
  return { numbers: page.events.map(({ eventUUID }) => Number(eventUUID.slice('event-'.length))), looked };
};

const rare = (nth: number): Partial<NewEvent> => ({
  attributes: [['path', `/${nth}`], ...(nth % 1_000 === 100 ? [['coupon', 'welcome'] as const] : [])],
});

test('an attribute is looked for in the blocks that may have it', () => {
  logSegments(3, rare);
  expect(summed()).toEqual([1, 2, 3]);
  expect(find({ attrID: 'coupon' })).toEqual({ numbers: [101, 1_101], looked: 2 });
  expect(find({ attrID: 'coupon', attrValue: 'welcome', eventID: 1 })).toEqual({ numbers: [101, 1_101], looked: 2 });
  expect(find({ attrID: 'path', attrValue: '/900' })).toEqual({ numbers: [901], looked: 1 });
  expect(find({ attrID: 'coupon', attrValue: 'other' })).toEqual({ numbers: [], looked: 0 });
});

test('a time is looked for in the blocks that may be of it', () => {
  logSegments(3, rare);
  const { numbers, looked } = find({ from: 700_000, to: 800_000 });
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, nth) => 700 + nth));
  expect(looked).toBeLessThanOrEqual(4);
});

test('segments of an older database are looked at block by block, and summed up in time', () => {
  logSegments(3, rare);
  const before = [count(), find({ attrID: 'coupon' }).numbers];
  for (const table of ['segment_summary', 'segment_slice', 'segment_visitors']) db.exec(`DELETE FROM ${table}`);
  expect([count(), find({ attrID: 'coupon' }).numbers]).toEqual(before);
  expect(find({ attrID: 'coupon' }).looked).toBeGreaterThan(20);
  open();
  tidyUp();
  expect(summed()).toEqual([1, 2, 3]);
  expect(find({ attrID: 'coupon' }).looked).toBe(2);
  expect([count(), find({ attrID: 'coupon' }).numbers]).toEqual(before);
});

test('a segment without a summary is looked at beside those that have one', () => {
  logSegments(3, (nth) => ({ userUUID: nth < eventsPerSegment ? laptop : phone }));
  const before = count();
  expect(before.map(({ users }) => users)).toEqual([2, 1]);
  db.exec('DELETE FROM segment_summary WHERE segment = 1');
  expect(count()).toEqual(before);
});

test('users are counted on the days that have such times, and on no other', () => {
  const visitors = { 0: laptop, 1: 'user-of-another-time', 2: phone };
  for (const [nth, userUUID] of Object.entries(visitors)) {
    const receivedTime = Number(nth) * day;
    const eventTime = nth === '1' ? receivedTime : 1_000;
    const events = Array.from({ length: eventsPerSegment }, () => newEvent({ userUUID, eventTime }));
    engine.write([{ name: 'logEvents', request: { ...asker, receivedTime, events } }]);
    tidyUp();
  }
  expect(summed()).toEqual([1, 2, 3]);
  expect(count()).toEqual([
    { events: 2 * eventsPerSegment, users: 2 },
    { events: 0, users: 0 },
  ]);
});

test('a segment of an older database may have nothing left in the middle of others', () => {
  for (const userUUID of [phone, laptop, phone]) logSegments(1, () => ({ userUUID }));
  for (const table of ['segment_summary', 'segment_slice', 'segment_visitors']) db.exec(`DELETE FROM ${table}`);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  tidyUp();
  open();
  tidyUp();
  expect(summed()).toEqual([1, 2, 3]);
  expect(find({ attrID: 'coupon' })).toEqual({ numbers: [], looked: 0 });
  expect(count().map(({ users }) => users)).toEqual([1, 1]);
});

test('what was written of a summary before a server ended is written anew', () => {
  logSegments(2, rare);
  const before = count();
  db.exec('DELETE FROM segment_summary WHERE segment = 2');
  open();
  tidyUp();
  expect(summed()).toEqual([1, 2]);
  expect(count()).toEqual(before);
});

/** The laptop's events become the contact's, and go with it. */
const mixed = (nth: number): Partial<NewEvent> => ({ userUUID: nth % 3 ? phone : laptop, eventID: 1 + (nth % 2) });

test('an erased visitor is counted no more, at any moment of arranging', () => {
  log(4 * eventsPerSegment, mixed);
  let steps = 0;
  for (; engine.maintain() !== null; steps += 1);
  expect(count(2).map(({ users }) => users)).toEqual([2, 2]);
  for (let before = 1; before < steps; before += 7) {
    db.close();
    db = openConnection(':memory:', 'write');
    begin();
    log(4 * eventsPerSegment, mixed);
    for (let step = 0; step < before; step += 1) engine.maintain();
    engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
    tidyUp();
    expect(count(2).map(({ users }) => users)).toEqual([1, 1]);
    log(eventsPerSegment, mixed);
    tidyUp();
    expect(count(2).map(({ users }) => users)).toEqual([1, 2]);
  }
});

test('a segment that is summed up, or goes, while users are counted is counted once', () => {
  const userOf = (nth: number) => `user-${String(nth % 500).padStart(16, '0')}`;
  log(4 * eventsPerSegment, (nth) => ({ userUUID: userOf(nth) }));
  const expected = count();
  const under = counting();
  let step = under.next();
  while (!step.done) {
    engine.maintain();
    step = under.next();
  }
  expect(step.value).toEqual(expected);
  tidyUp();
  const last = counting();
  last.next();
  engine.write([{ name: 'deleteEventsBefore', request: { time: day, most: 4 * eventsPerSegment } }]);
  tidyUp();
  expect(end(last).every(({ users }) => (users as number) <= 500)).toBe(true);
  expect(count().map(({ users }) => users)).toEqual([0, 0]);
  const newest = db.prepare('SELECT max(segment) FROM event_segment').pluck().get() as number;
  logSegments(1, () => ({}));
  expect(summed()).toEqual([newest + 1]);
});

test('what is left is told exactly when the oldest is deleted', () => {
  logSegments(2, (nth) => ({ userUUID: nth < 100 ? laptop : phone }));
  expect(count().map(({ users }) => users)).toEqual([2, 1]);
  engine.write([{ name: 'deleteEventsBefore', request: { time: day, most: 99 } }]);
  expect(count().map(({ users }) => users)).toEqual([2, 1]);
  engine.write([{ name: 'deleteEventsBefore', request: { time: day, most: 1 } }]);
  expect(count().map(({ users }) => users)).toEqual([1, 1]);
});
