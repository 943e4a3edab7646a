import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMemory } from '../database/memory.ts';
import { attributesAt, type EventRow, eventsOf, pickEvents, toBlock } from './event-block.ts';

const number = fc.integer({ min: 1, max: 5 });
const text = fc.oneof(fc.constantFrom('/', '9.90', '', '__proto__'), fc.string());
const attributes = fc.uniqueArray(fc.tuple(fc.oneof(fc.constant('__proto__'), fc.string({ minLength: 1 })), text), {
  selector: ([attrID]) => attrID,
  maxLength: 5,
});

const someEvents = fc
  .array(
    fc.record({
      step: number,
      day: number,
      account: number,
      user: fc.option(number),
      contact: fc.option(number),
      eventID: number,
      eventUUID: fc.oneof(
        fc.uuid(),
        fc.integer({ min: 1, max: 999 }).map((number) => `event-${number}`),
      ),
      receivedTime: fc.integer({ min: 0, max: 4e12 }),
      eventTime: fc.integer({ min: 0, max: 4e12 }),
      timeReplaced: fc.constantFrom<0 | 1>(0, 1),
      server: fc.constantFrom<0 | 1 | null>(0, 1, null),
      attributes,
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((events): EventRow[] => {
    let sequence = 0;
    return events.map(({ step, ...event }) => {
      sequence += step;
      return { ...event, sequence };
    });
  });

test('round-trips events', () => {
  fc.assert(
    fc.property(someEvents, (events) => {
      expect(eventsOf(JSON.parse(JSON.stringify(toBlock(events))))).toEqual(events);
    }),
  );
});

const toJSON = (attributes: EventRow['attributes']) =>
  `{${attributes.map((attribute) => attribute.map((text) => JSON.stringify(text)).join(':')).join()}}`;

test('returns the same events through the view `event`', () => {
  const db = openMemory();
  const insert = db.prepare('INSERT INTO event_block (through, count, events) VALUES (?, ?, ?)');
  const selectEvents = db.prepare<[], { attributes: string }>('SELECT * FROM event ORDER BY sequence');
  fc.assert(
    fc.property(someEvents, (events) => {
      db.exec('DELETE FROM event_block');
      insert.run(events.at(-1)?.sequence, events.length, JSON.stringify(toBlock(events)));
      const rows = selectEvents
        .all()
        .map((row) => ({ ...row, attributes: Object.entries(JSON.parse(row.attributes)) }));
      // Sorts attributes like JSON.parse, which puts numeric names first.
      const inOrder = (entries: EventRow['attributes']) => Object.entries(JSON.parse(toJSON(entries)));
      const expected = events.map(({ server, ...event }) => ({ ...event, attributes: inOrder(event.attributes) }));
      expect(rows).toEqual(expected);
    }),
  );
});

test('keeps nothing of the removed events when only some are removed from a block', () => {
  fc.assert(
    fc.property(someEvents, fc.infiniteStream(fc.boolean()), (events, choice) => {
      const indexes = events.map((_, index) => index).filter((index) => index === 0 || choice.next().value);
      const block = pickEvents(toBlock(events), indexes);
      const kept = indexes.map((index) => events[index] as EventRow);
      expect(eventsOf(JSON.parse(JSON.stringify(block)))).toEqual(kept);
      const keptTexts = new Set(kept.flatMap(({ attributes }) => attributes.flat()));
      for (const text of [...block.names.flat(), ...block.values, ...block.words]) {
        if (typeof text === 'string' && text !== '') expect(keptTexts).toContain(text);
      }
    }),
  );
});

test('stores common values once', () => {
  const event = (nth: number): EventRow => ({
    sequence: 70 + nth,
    day: 3,
    account: 1,
    user: 9,
    contact: null,
    eventID: 5,
    eventUUID: `event-${nth}`,
    eventTime: 990 + nth,
    receivedTime: 1000 + 2 * nth,
    timeReplaced: 0,
    server: 0,
    attributes: [
      ['path', '/'],
      ['nth', String(nth)],
    ],
  });
  expect(toBlock([0, 1, 2].map(event))).toEqual({
    sequence: { from: 70, by: 1 },
    day: 3,
    account: 1,
    user: 9,
    contact: null,
    eventID: 5,
    eventUUIDStart: 'event-',
    eventUUID: ['0', '1', '2'],
    receivedTime: { from: 1000, by: 2 },
    age: [10, 11, 12],
    timeReplaced: 0,
    server: 0,
    names: [['path', 'nth']],
    named: 0,
    values: [0, '0', 0, '1', 0, '2'],
    words: ['/'],
  });
});

test('stores large ages relative to the first age', () => {
  const ages = [3_600_000, 3_600_007, 3_599_999];
  const base = {
    day: 0,
    account: 1,
    user: 1,
    contact: null,
    eventID: 1,
    receivedTime: 4e6,
    timeReplaced: 0,
    server: 0,
  } as const;
  const events = ages.map((age, nth): EventRow => {
    return { ...base, sequence: nth, eventUUID: `${nth}`, eventTime: 4e6 - age, attributes: [] };
  });
  const block = toBlock(events);
  expect(block.age).toEqual({ from: 3_600_000, by: [0, 7, -1] });
  expect(eventsOf(block)).toEqual(events);
  expect(eventsOf(pickEvents(block, [1, 2]))).toEqual(events.slice(1));
});

test('distinguishes lists of attrIDs that are equal when joined', () => {
  const [first, second] = [
    [['a,b', '1']],
    [
      ['a', '2'],
      ['b', '3'],
    ],
  ] as EventRow['attributes'][];
  const base = { day: 0, account: 1, user: 1, contact: null, eventID: 1, eventTime: 0, receivedTime: 0 };
  const events = [first, second].map((attributes, nth) => ({
    ...base,
    sequence: nth,
    eventUUID: `event-${nth}`,
    timeReplaced: 0 as const,
    server: 0 as const,
    attributes: attributes as EventRow['attributes'],
  }));
  const block = toBlock(events);
  expect(attributesAt(block, 0)).toEqual(first);
  expect(attributesAt(block, 1)).toEqual(second);
});
