import { beforeEach, expect, test } from 'vitest';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { type Compaction, createCompaction } from './compaction.ts';
import { type EventRow, eventsOf } from './event-block.ts';
import { type BlockWriter, createBlockWriter, defaultEventsPerBlock as eventsPerBlock } from './event-blocks.ts';

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

const newEvent = (text: string): EventRow => {
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
/** Writes `commits` commits with `events` events each. */
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

test.each([1, 3, 10, 31])(
  'compacts commits of %i events into full blocks, except for the last few events',
  (events) => {
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
  },
);

test('merges the remainder with later events', () => {
  commit(40, 3);
  compact();
  const compacted = compaction.compacted();
  expect(compacted).toBe(eventsPerBlock);
  commit(342, 3);
  compact();
  expect(compaction.compacted()).toBe(eventsPerBlock * Math.floor(sequence / eventsPerBlock));
  expectAll();
});

test('does not rewrite a large commit’s blocks', () => {
  commit(3, 1_600);
  expect(Math.min(...counts())).toBeGreaterThan(eventsPerBlock / 2);
  const before = texts();
  compact();
  expect(texts()).toEqual(before);
  expect(compaction.compacted()).toBe(sequence);
});

test('merges small blocks with each other, and with a larger block if the result fits into one block', () => {
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

test('waits until there are enough events again', () => {
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

test('does not rewrite blocks that have reached the size limit', () => {
  commit(100, 1, (nth) => `${nth}`.padEnd(40_000, 'x'));
  const changes = () => db.prepare<[], number>('SELECT total_changes()').pluck().get() as number;
  const before = changes();
  const steps = compact();
  // Takes several steps, because a step examines about a megabyte and writes its position.
  expect(steps).toBeGreaterThan(2);
  expect(changes() - before).toBe(steps);
  expect(compaction.compacted()).toBe(100);
});

test('merges small blocks up to the size limit', () => {
  commit(60, 1, (nth) => `${nth}`.padEnd(20_000, 'x'));
  compact();
  expect(counts().slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 3));
  expectAll();
});

test('counts a repeated string toward the size limit each time', () => {
  commit(20, 1, () => 'the same'.padEnd(20_000, 'x'));
  expect(compact()).toBeGreaterThan(0);
  expect(counts()).toEqual([3, 3, 3, 3, 3, 3, 1, 1]);
  expect(compaction.compacted()).toBe(18);
  expectAll();
});

test('merges a merged block with the next group if the block is small', () => {
  commit(25, 1, () => 'the same'.padEnd(2_900, 'x'));
  expect(compact()).toBe(1);
  expect(compaction.compacted()).toBe(0);
  expect(counts()[0]).toBeGreaterThan(20);
  expectAll();
});

test('resumes at its previous position after a rollback', () => {
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

test('never merges events across a large gap, whether in one commit or in several', () => {
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
  // Expects a part's events to be in a single block.
  expect(blocksOf.filter((each) => each.includes(ends[3] as number))).toEqual([
    expect.objectContaining({ length: 17 }),
  ]);
  expect(compaction.compacted()).toBeGreaterThan(ends[18] as number);
});
