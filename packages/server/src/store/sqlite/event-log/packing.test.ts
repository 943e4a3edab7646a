import { beforeEach, expect, test } from 'vitest';
import { openMemory } from '../../../../test/fixtures/memory.ts';
import type { Connection } from '../database/connection.ts';
import { eventsOf, type KeptEvent } from './event-block.ts';
import { type BlockWriter, createBlockWriter, usualEventsPerBlock as eventsPerBlock } from './event-blocks.ts';
import { createPacking, type Packing } from './packing.ts';

let db: Connection;
let blocks: BlockWriter;
let packing: Packing;
let sequence: number;

beforeEach(() => {
  db = openMemory();
  blocks = createBlockWriter(db);
  packing = createPacking(db, blocks);
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
const pack = () => {
  let steps = 0;
  while (packing.step()) steps += 1;
  return steps;
};
const counts = () => db.prepare<[], number>('SELECT count FROM event_block ORDER BY through').pluck().all();
const texts = () => db.prepare<[], string>('SELECT events FROM event_block ORDER BY through').pluck().all();
const sequences = () => texts().flatMap((events) => eventsOf(JSON.parse(events)).map((event) => event.sequence));
const expectAll = () => expect(sequences()).toEqual(Array.from({ length: sequence }, (_, nth) => nth + 1));

test.each([1, 3, 10, 31])('commits of %i events become full blocks, but for the last few events', (events) => {
  commit(Math.ceil(2_000 / events), events);
  expect(pack()).toBeGreaterThan(1);
  const all = counts();
  const { packed } = packing;
  const before = db.prepare<[number], number>('SELECT count FROM event_block WHERE through <= ?').pluck().all(packed);
  expect(new Set(before)).toEqual(new Set([eventsPerBlock]));
  expect(all.slice(before.length).reduce((sum, count) => sum + count, 0)).toBeLessThan(eventsPerBlock);
  expectAll();
});

test('what is over is packed with what comes later', () => {
  commit(40, 3);
  pack();
  const { packed } = packing;
  expect(packed).toBe(eventsPerBlock);
  commit(342, 3);
  pack();
  expect(packing.packed).toBe(eventsPerBlock * Math.floor(sequence / eventsPerBlock));
  expectAll();
});

test('a commit is cut into blocks that need no packing', () => {
  commit(3, 1_600);
  expect(Math.min(...counts())).toBeGreaterThan(eventsPerBlock / 2);
  const before = texts();
  pack();
  expect(texts()).toEqual(before);
  expect(packing.packed).toBe(sequence);
});

test('small blocks are packed with each other, and with a larger one where all are one', () => {
  commit(3, 5);
  commit(1, eventsPerBlock);
  commit(1, 5);
  commit(1, eventsPerBlock);
  commit(1, 10);
  commit(1, 60);
  commit(1, eventsPerBlock);
  pack();
  expect(counts()).toEqual([15, eventsPerBlock, 5, eventsPerBlock, 70, eventsPerBlock]);
  expectAll();
});

test('waits until there is enough again', () => {
  commit(4, 1);
  expect(packing.isDue()).toBe(true);
  expect(packing.step()).toBe(false);
  expect(packing.isDue()).toBe(false);
  commit(1_023, 1);
  expect(packing.isDue()).toBe(false);
  expect(packing.step()).toBe(false);
  expect(counts()).toHaveLength(1_027);
  commit(1, 1);
  expect(packing.isDue()).toBe(true);
});

test('events that fill a block by their size stay where they are', () => {
  commit(100, 1, (nth) => `${nth}`.padEnd(40_000, 'x'));
  const changes = () => db.prepare<[], number>('SELECT total_changes()').pluck().get() as number;
  const before = changes();
  const steps = pack();
  // A step looks at about a megabyte, and writes how far it has come.
  expect(steps).toBeGreaterThan(2);
  expect(changes() - before).toBe(steps);
  expect(packing.packed).toBe(100);
});

test('a block holds no more text than it may, and small ones become few', () => {
  commit(60, 1, (nth) => `${nth}`.padEnd(20_000, 'x'));
  pack();
  expect(counts().slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 3));
  expectAll();
});

test('texts that come back count as often as they are said', () => {
  commit(20, 1, () => 'the same'.padEnd(20_000, 'x'));
  expect(pack()).toBeGreaterThan(0);
  expect(counts()).toEqual([3, 3, 3, 3, 3, 3, 1, 1]);
  expect(packing.packed).toBe(18);
  expectAll();
});

test('what was large only as several blocks is one that is small, and begins the next', () => {
  commit(25, 1, () => 'the same'.padEnd(2_900, 'x'));
  expect(pack()).toBe(1);
  expect(packing.packed).toBe(0);
  expect(counts()[0]).toBeGreaterThan(20);
  expectAll();
});

test('rolled back, it begins where it was', () => {
  commit(2 * eventsPerBlock, 1);
  db.exec('BEGIN');
  packing.step();
  expect(packing.packed).toBe(eventsPerBlock);
  db.exec('ROLLBACK');
  packing.forget();
  expect(packing.packed).toBe(0);
  pack();
  expect(counts()).toEqual([eventsPerBlock, eventsPerBlock]);
  expectAll();
});
