import { beforeEach, expect, test } from 'vitest';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { type Compaction, createCompaction } from './compaction.ts';
import { eventsOf, type KeptEvent } from './event-block.ts';
import { type BlockWriter, createBlockWriter, usualEventsPerBlock as eventsPerBlock } from './event-blocks.ts';

let db: Connection;
let blocks: BlockWriter;
let compaction: Compaction;
let sequence: number;

beforeEach(() => {
  db = openMemory();
  blocks = createBlockWriter(db);
  compaction = createCompaction(db, blocks);
  sequence = 0;
});

const newEvent = (text: string): KeptEvent => {
  sequence += 1;
  return {
    sequence,
    day: 0,
    account: 1,
    user: 1,
    contact: null,
    eventID: 1,
    eventUUID: `event-${sequence}`,
    eventTime: 0,
    receivedTime: 0,
    timeReplaced: 0,
    server: 0,
    attributes: [['text', text]],
  };
};
/** So many commits of so many events. */
const commit = (commits: number, events: number, text: (nth: number) => string = () => '') => {
  for (let nth = 0; nth < commits; nth += 1) {
    for (let event = 0; event < events; event += 1) blocks.add(newEvent(text(nth)));
    blocks.flush();
  }
};
const compact = () => {
  let steps = 0;
  while (compaction.step()) steps += 1;
  return steps;
};
const counts = () => db.prepare<[], number>('SELECT count FROM event_block ORDER BY through').pluck().all();
const texts = () => db.prepare<[], string>('SELECT events FROM event_block ORDER BY through').pluck().all();
const sequences = () => texts().flatMap((events) => eventsOf(JSON.parse(events)).map((event) => event.sequence));
const expectAll = () => expect(sequences()).toEqual(Array.from({ length: sequence }, (_, nth) => nth + 1));

test.each([1, 3, 10, 31])('commits of %i events become full blocks, but for the last few events', (events) => {
  commit(Math.ceil(2_000 / events), events);
  expect(compact()).toBeGreaterThan(1);
  const all = counts();
  const compacted = compaction.compacted();
  const before = db
    .prepare<[number], number>('SELECT count FROM event_block WHERE through <= ?')
    .pluck()
    .all(compacted);
  expect(new Set(before)).toEqual(new Set([eventsPerBlock]));
  expect(all.slice(before.length).reduce((sum, count) => sum + count, 0)).toBeLessThan(eventsPerBlock);
  expectAll();
});

test('what is over is joined with what comes later', () => {
  commit(40, 3);
  compact();
  const compacted = compaction.compacted();
  expect(compacted).toBe(eventsPerBlock);
  commit(342, 3);
  compact();
  expect(compaction.compacted()).toBe(eventsPerBlock * Math.floor(sequence / eventsPerBlock));
  expectAll();
});

test('a commit is cut into blocks that need no compaction', () => {
  commit(3, 1_600);
  expect(Math.min(...counts())).toBeGreaterThan(eventsPerBlock / 2);
  const before = texts();
  compact();
  expect(texts()).toEqual(before);
  expect(compaction.compacted()).toBe(sequence);
});

test('small blocks are joined with each other, and with a larger one where all are one', () => {
  commit(3, 5);
  commit(1, eventsPerBlock);
  commit(1, 5);
  commit(1, eventsPerBlock);
  commit(1, 10);
  commit(1, 60);
  commit(1, eventsPerBlock);
  compact();
  expect(counts()).toEqual([15, eventsPerBlock, 5, eventsPerBlock, 70, eventsPerBlock]);
  expectAll();
});

test('waits until there is enough again', () => {
  commit(4, 1);
  expect(compaction.isDue()).toBe(true);
  expect(compaction.step()).toBe(false);
  expect(compaction.isDue()).toBe(false);
  commit(1_023, 1);
  expect(compaction.isDue()).toBe(false);
  expect(compaction.step()).toBe(false);
  expect(counts()).toHaveLength(1_027);
  commit(1, 1);
  expect(compaction.isDue()).toBe(true);
});

test('events that fill a block by their size stay where they are', () => {
  commit(100, 1, (nth) => `${nth}`.padEnd(40_000, 'x'));
  const changes = () => db.prepare<[], number>('SELECT total_changes()').pluck().get() as number;
  const before = changes();
  const steps = compact();
  // A step looks at about a megabyte, and writes how far it has come.
  expect(steps).toBeGreaterThan(2);
  expect(changes() - before).toBe(steps);
  expect(compaction.compacted()).toBe(100);
});

test('a block holds no more text than it may, and small ones become few', () => {
  commit(60, 1, (nth) => `${nth}`.padEnd(20_000, 'x'));
  compact();
  expect(counts().slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 3));
  expectAll();
});

test('texts that come back count as often as they are said', () => {
  commit(20, 1, () => 'the same'.padEnd(20_000, 'x'));
  expect(compact()).toBeGreaterThan(0);
  expect(counts()).toEqual([3, 3, 3, 3, 3, 3, 1, 1]);
  expect(compaction.compacted()).toBe(18);
  expectAll();
});

test('what was large only as several blocks is one that is small, and begins the next', () => {
  commit(25, 1, () => 'the same'.padEnd(2_900, 'x'));
  expect(compact()).toBe(1);
  expect(compaction.compacted()).toBe(0);
  expect(counts()[0]).toBeGreaterThan(20);
  expectAll();
});

test('rolled back, it begins where it was', () => {
  commit(2 * eventsPerBlock, 1);
  db.exec('BEGIN');
  compaction.step();
  expect(compaction.compacted()).toBe(eventsPerBlock);
  db.exec('ROLLBACK');
  compaction.forget();
  expect(compaction.compacted()).toBe(0);
  compact();
  expect(counts()).toEqual([eventsPerBlock, eventsPerBlock]);
  expectAll();
});

test('no block has events on both sides of a large gap, whether they are of one commit or of several', () => {
  const ends: number[] = [];
  for (let part = 0; part < 20; part += 1) {
    commit(3, 5);
    blocks.add(newEvent(''));
    ends.push(sequence);
    sequence += 2 ** 32;
    blocks.add(newEvent(''));
    blocks.flush();
  }
  compact();
  const blocksOf = texts().map((events) => eventsOf(JSON.parse(events)).map((event) => event.sequence));
  for (const [first = 0, ...rest] of blocksOf) expect((rest.at(-1) ?? first) - first).toBeLessThan(2 ** 30);
  expect(blocksOf.flat()).toHaveLength(20 * 17);
  // Those of a part are in one block.
  expect(blocksOf.filter((each) => each.includes(ends[3] as number))).toEqual([
    expect.objectContaining({ length: 17 }),
  ]);
  expect(compaction.compacted()).toBeGreaterThan(ends[18] as number);
});
