import { beforeEach, expect, test } from 'vitest';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { type EventRow, eventAt } from './event-block.ts';
import {
  type BlockWriter,
  createBlockReader,
  createBlockWriter,
  defaultEventsPerBlock as eventsPerBlock,
} from './event-blocks.ts';
import { createSegmentBuilder, type SegmentBuilder } from './segment-builder.ts';

/** The number of events in the full blocks of two read steps. */
const perSegment = 128 * eventsPerBlock;
let db: Connection;
let blocks: BlockWriter;
let builder: SegmentBuilder;
let sequence: number;

const open = () => {
  blocks = createBlockWriter(db);
  builder = createSegmentBuilder(db, blocks.written, perSegment);
};
beforeEach(() => {
  db = openMemory();
  sequence = 0;
  open();
});

const write = (events: number, of: (nth: number) => Partial<EventRow>, text: (nth: number) => string = () => '') => {
  for (let nth = 0; nth < events; nth += 1) {
    sequence += 1;
    blocks.add({
      sequence,
      day: 0,
      account: 1,
      user: null,
      contact: null,
      eventID: 1,
      eventUUID: `event-${sequence}`,
      eventTime: 0,
      receivedTime: 0,
      timeReplaced: 0,
      server: 0,
      attributes: [['text', text(nth)]],
      ...of(nth),
    });
  }
  blocks.flush();
};
/** Removes the events of blocks after one sequence and up to another. */
const removeAfter = (sequence: number, through = Infinity) => {
  const stored = [...createBlockReader(db).after(sequence)].filter((block) => block.through <= through);
  const places = stored.flatMap((stored) => [...stored.block.eventUUID.keys()].map((index) => ({ stored, index })));
  blocks.remove(places);
  builder.remove(places.map(({ stored, index }) => eventAt(stored.block, index)));
};
const run = () => {
  let steps = 0;
  while (builder.step(sequence)) steps += 1;
  return steps;
};

interface Row {
  what: number;
  number: number;
  eventID: number;
  blocks: string;
}
const postings = (segment = 1) =>
  db
    .prepare<[number], Row>(
      'SELECT what, number, eventID, blocks FROM event_posting WHERE segment = ? ORDER BY what, number, eventID',
    )
    .all(segment);
const segments = () => db.prepare('SELECT segment, after, through FROM event_segment ORDER BY segment').all();
/** Records the order in which postings are written, with a trigger. */
const watch = () => {
  db.exec(`
    CREATE TEMP TABLE seen (nth INTEGER PRIMARY KEY, what, number, eventID);
    CREATE TEMP TRIGGER see AFTER INSERT ON event_posting
      BEGIN INSERT INTO seen VALUES (NULL, NEW.what, NEW.number, NEW.eventID); END;`);
  return () => db.prepare('SELECT what, number, eventID FROM seen ORDER BY nth').raw().all() as number[][];
};

const mixed = (nth: number): Partial<EventRow> => ({
  account: 1 + (nth % 3),
  user: nth % 5 ? (nth * 7_919) % 1_500 : null,
  contact: nth % 5 ? null : 1 + (nth % 40),
  eventID: 1 + (nth % 7),
});

test('writes the blocks of each posting, in key order', () => {
  const writtenKeys = watch();
  write(perSegment, mixed);
  expect(run()).toBeGreaterThan(4);
  expect(segments()).toEqual([{ segment: 1, after: 0, through: perSegment }]);
  const expected = new Map<string, Set<number>>();
  for (let nth = 0; nth < perSegment; nth += 1) {
    const { account, user, contact, eventID } = mixed(nth);
    const through = eventsPerBlock * (1 + Math.floor(nth / eventsPerBlock));
    const keys = [[2, account, 0] as const, [3, account, eventID] as const];
    for (const key of [...keys, user !== null && [0, user, 0], contact !== null && [1, contact, 0]]) {
      if (key) expected.set(key.join(), (expected.get(key.join()) ?? new Set()).add(through));
    }
  }
  const actual = new Map(postings().map((row) => [[row.what, row.number, row.eventID].join(), JSON.parse(row.blocks)]));
  expect(actual).toEqual(new Map([...expected].map(([key, throughs]) => [key, [...throughs]])));
  const inOrder = writtenKeys();
  const compare = (a: number[], b: number[]) => a.map((part, nth) => part - (b[nth] as number)).find(Boolean) ?? 0;
  expect(inOrder).toEqual(inOrder.toSorted(compare));
});

test('waits for events, and for their blocks to be compacted', () => {
  write(perSegment - 1, mixed);
  expect(builder.step(sequence)).toBe(false);
  write(1, mixed);
  expect(builder.step(0)).toBe(true);
  expect(builder.hasMoreWork()).toBe(true);
  expect(builder.step(0)).toBe(false);
  // Nothing is left to do until more events are compacted.
  expect(builder.hasMoreWork()).toBe(false);
  run();
  expect(segments()).toHaveLength(1);
});

test('reports a backlog if more than three segments of events are unindexed', () => {
  write(3 * perSegment, mixed);
  expect(builder.behind()).toBe(0);
  write(1, mixed);
  expect(builder.behind()).toBeCloseTo(1 / perSegment);
  run();
  expect(segments()).toHaveLength(3);
  expect(builder.behind()).toBe(0);
});

test('does not count deleted events as unindexed', () => {
  write(perSegment, mixed);
  run();
  write(4 * perSegment, mixed);
  expect(builder.behind()).toBe(1);
  removeAfter(2 * perSegment);
  expect(builder.behind()).toBe(0);
  removeAfter(perSegment);
  expect(run()).toBe(0);
  write(perSegment - 1, mixed);
  expect(run()).toBe(0);
  write(1, mixed);
  run();
  expect(segments()).toHaveLength(2);
});

test('leaves no rows of a segment whose events were deleted before the segment was complete', () => {
  write(perSegment, (nth) => ({ user: nth }));
  while (postings().length < 2_000) builder.step(sequence);
  removeAfter(perSegment / 2);
  expect(builder.hasMoreWork()).toBe(true);
  run();
  expect(segments()).toEqual([]);
  expect(postings()).toEqual([]);
  expect(db.prepare('SELECT count(*) FROM segment_visitors').pluck().get()).toBe(0);
});

test('limits the size of a step with large events and long postings', () => {
  write(perSegment, mixed, (nth) => `${nth}`.padEnd(2_000, 'x'));
  let steps = 0;
  while (segments().length === 0) {
    const before = postings().length;
    builder.step(sequence);
    expect(postings().length - before).toBeLessThanOrEqual(1_000);
    steps += 1;
  }
  // Takes many steps: there are about 16 MB of text, of which each step reads half a megabyte.
  expect(steps).toBeGreaterThan(20);
});

test('writes few long postings per step', () => {
  for (let nth = 0; nth < 32; nth += 1) write(perSegment, (nth) => ({ eventID: 1 + (nth % 32) }));
  const large = createSegmentBuilder(db, blocks.written, 32 * perSegment);
  let before = 0;
  while (large.step(sequence)) {
    const { length } = postings();
    expect(length - before).toBeLessThan(7);
    before = length;
  }
  expect(before).toBe(33);
});

test.each(['rolled back', 'interrupted by a restart'])('restarts without duplicate rows if it is %s', (what) => {
  write(2 * perSegment, (nth) => ({ user: nth % perSegment }));
  while (postings().length < 2_000) builder.step(sequence);
  if (what === 'rolled back') {
    db.exec('BEGIN');
    builder.step(sequence);
    db.exec('ROLLBACK');
    builder.forget();
    expect(builder.hasMoreWork()).toBe(false);
  } else open();
  expect(postings().length).toBeGreaterThan(0);
  run();
  expect(segments()).toHaveLength(2);
  expect(postings(1)).toHaveLength(perSegment + 2);
  expect(postings(2)).toHaveLength(perSegment + 2);
});

test('deletes the postings of each segment after its last event is deleted, without waiting for new events', () => {
  write(2 * perSegment, (nth) => ({ user: nth % perSegment }));
  run();
  db.prepare('DELETE FROM event_block WHERE through < ?').run(perSegment);
  expect(run()).toBe(0);
  db.prepare('DELETE FROM event_block WHERE through <= ?').run(perSegment);
  expect(builder.step(sequence)).toBe(true);
  expect(builder.hasMoreWork()).toBe(true);
  run();
  expect(postings(1)).toEqual([]);
  expect(segments()).toEqual([{ segment: 2, after: perSegment, through: 2 * perSegment }]);
  db.prepare('DELETE FROM event_block').run();
  run();
  expect(segments()).toEqual([]);
  expect(db.prepare('SELECT count(*) FROM event_posting').pluck().get()).toBe(0);
});

test('indexes events with large gaps between them', () => {
  const far = 2 ** 40;
  sequence = far;
  write(perSegment / 2, mixed);
  sequence += far;
  write(perSegment, mixed);
  run();
  const half = perSegment / 2;
  expect(segments()).toEqual([
    { segment: 1, after: far, through: far + half },
    { segment: 2, after: 2 * far + half, through: 2 * far + half + perSegment },
  ]);
  expect(db.prepare('SELECT indexed FROM position').pluck().get()).toBe(2 * far + half + perSegment);
});

test('starts after a gap if the events before the gap are deleted', () => {
  write(1, mixed);
  sequence += 2 ** 40;
  write(perSegment, mixed);
  builder.step(sequence);
  removeAfter(0, 1);
  run();
  expect(segments()).toEqual([{ segment: 1, after: sequence - perSegment, through: sequence }]);
});
