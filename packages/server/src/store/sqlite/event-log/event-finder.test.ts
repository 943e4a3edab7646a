// Tests long-lived readers, whose in-memory index might be older than the database.
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
import type { PageBounds } from '../../rules/event-pages.ts';
import type { EventPage, EventQuery } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine, type WriteEngine } from '../engine.ts';
import { createEventPager } from '../events/event-pages.ts';
import type { Tuning } from '../tuning.ts';

const caller = { account: 1, token: 1, browser: false };
const maxSteps = 5_000;

let db: Connection;
let engine: WriteEngine;
let eventCount: number;

const open = (tuning?: Tuning) => {
  engine = createWriteEngine(db, tuning);
};
beforeEach(() => {
  db = openMemory();
  eventCount = 0;
  open();
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
});

/** Logs an event for each user, in one commit. */
const log = (userUUIDs: readonly string[], days = 0) => {
  const events = userUUIDs.map((userUUID) => {
    eventCount += 1;
    return newEvent({ userUUID, eventUUID: `event-${eventCount}`, eventTime: days * day });
  });
  engine.write([{ name: 'logEvents', request: { ...caller, receivedTime: days * day, events } }]);
};
const logTimes = (times: number, userUUID = laptop, days = 0) =>
  log(
    Array.from({ length: times }, () => userUUID),
    days,
  );
const runMaintenance = () => {
  while (engine.maintain() !== null);
};
const retain = (limit: number, time: number) =>
  engine.write([{ name: 'deleteEventsBefore', request: { time, limit } }]);

/** Returns a function that reads the event numbers on all pages. */
const createReader = (bounds?: PageBounds) => {
  const getEvents = createEventPager(db, { bounds });
  return (query: Partial<EventQuery>): number[] => {
    const numbers: number[] = [];
    let beyond: number | undefined;
    for (;;) {
      const steps = getEvents({ account: 1, order: 'desc', limit: 1_000, beyond, ...query });
      let step = steps.next();
      for (let nth = 0; !step.done; nth += 1) {
        if (nth > maxSteps) throw new Error('the read does not end');
        step = steps.next();
      }
      const { events, next }: EventPage = step.value;
      numbers.push(...events.map(({ eventUUID }) => Number(eventUUID.slice('event-'.length))));
      if (next === null) return numbers;
      beyond = next;
    }
  };
};
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, nth) => first + nth);

test.each(['asc', 'desc'] as const)('skips deleted events in the in-memory index (%s)', (order) => {
  const read = createReader();
  logTimes(500);
  logTimes(500, laptop, 5);
  expect(read({ order })).toHaveLength(1_000);
  retain(500, day);
  const left = from(501, 1_000);
  expect(read({ order })).toEqual(order === 'asc' ? left : left.toReversed());
  retain(500, 9 * day);
  expect(read({ order })).toEqual([]);
});

test.each(['asc', 'desc'] as const)('skips a segment’s deleted blocks (%s)', (order) => {
  open({ eventsPerCompaction: 64, eventsPerSegment: 6_400 });
  logTimes(4_000);
  logTimes(4_000, laptop, 5);
  runMaintenance();
  expect(db.prepare('SELECT count(*) FROM event_segment').pluck().get()).toBe(1);
  retain(4_000, day);
  const left = from(4_001, 8_000);
  expect(createReader()({ order })).toEqual(order === 'asc' ? left : left.toReversed());
});

test.each(['asc', 'desc'] as const)('resumes in the middle of a block that has events from two days (%s)', (order) => {
  for (let nth = 0; nth < 10; nth += 1) logTimes(20, laptop, nth < 5 ? 0 : 2);
  open({ eventsPerCompaction: 64 });
  runMaintenance();
  const all = from(1, 200);
  const expected = order === 'asc' ? all : all.toReversed();
  for (const maxExamined of [1, 60, 70, 120, 130, 190]) {
    const read = createReader({ maxExamined, maxCharacters: Infinity });
    expect(read({ order, from: 0, to: 9 * day }), `${maxExamined}`).toEqual(expected);
  }
});

test.each(['asc', 'desc'] as const)('finds the events of a contact who has many users (%s)', (order) => {
  open({ eventsPerCompaction: 64, eventsPerSegment: 2_000 });
  const users = from(1, 600).map((nth) => `user-${String(nth).padStart(16, '0')}`);
  const contact = newContact({ address: ann });
  for (const userUUID of users) {
    const request = { ...newContact({ ...contact, userUUID, newHandle: userUUID }), ...caller, verified: true };
    engine.write([{ name: 'createContact', request }]);
  }
  log(users);
  for (let nth = 0; nth < 4; nth += 1) {
    logTimes(500, phone);
    log(users);
  }
  const { newContactUUID: contactUUID } = contact;
  const before = createReader()({ order, contactUUID });
  expect(before).toHaveLength(3_000);
  runMaintenance();
  expect(db.prepare('SELECT count(*) FROM event_segment').pluck().get()).toBe(1);
  expect(createReader()({ order, contactUUID })).toEqual(before);
});

test.each(['asc', 'desc'] as const)('skips the segments in which a user has no events (%s)', (order) => {
  open({ eventsPerCompaction: 64, eventsPerSegment: 128 });
  for (const userUUID of [laptop, phone, laptop]) {
    logTimes(128, userUUID);
    runMaintenance();
  }
  expect(db.prepare('SELECT count(*) FROM event_segment').pluck().get()).toBe(3);
  const ofLaptop = [...from(1, 128), ...from(257, 384)];
  expect(createReader()({ userUUID: laptop, order })).toEqual(order === 'asc' ? ofLaptop : ofLaptop.toReversed());
});
