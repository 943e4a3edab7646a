import { beforeEach, expect, test } from 'vitest';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createCompaction } from './compaction.ts';
import { type BlockWriter, createBlockWriter } from './event-blocks.ts';
import { createEventTail, type EventTail } from './event-tail.ts';

let db: Connection;
let blocks: BlockWriter;
let tail: EventTail;
let sequence: number;

beforeEach(() => {
  db = openMemory();
  blocks = createBlockWriter(db);
  tail = createEventTail(db);
  sequence = 0;
});

const write = (events: number) => {
  for (let nth = 0; nth < events; nth += 1) {
    sequence += 1;
    blocks.add({
      sequence,
      day: 0,
      account: 1 + (sequence % 2),
      user: sequence % 3 ? 5 : null,
      contact: sequence % 3 ? null : 6,
      eventID: 1 + (sequence % 4),
      eventUUID: `event-${sequence}`,
      eventTime: 0,
      receivedTime: 0,
      timeReplaced: 0,
      server: 0,
      attributes: [],
    });
  }
  blocks.flush();
};
const index = (through: number) => db.prepare('UPDATE position SET indexed = ?').run(through);
const find = (what: 'user' | 'contact' | 'account' | 'eventID', number: number, eventID = 0) =>
  tail.find({ what, number, eventID }, 0, Infinity);
const after = (from: number, isOne: (nth: number) => boolean) =>
  Array.from({ length: sequence - from }, (_, nth) => from + nth + 1).filter(isOne);

const expectAllAfter = (from: number) => {
  expect(tail.refresh()).toBe(true);
  expect(find('user', 5)).toEqual(after(from, (nth) => nth % 3 !== 0));
  expect(find('contact', 6)).toEqual(after(from, (nth) => nth % 3 === 0));
  expect(find('account', 1)).toEqual(after(from, (nth) => nth % 2 === 0));
  expect(find('eventID', 2, 4)).toEqual(after(from, (nth) => nth % 4 === 3));
};

test('loads new events once, even if they are compacted in the meantime', () => {
  const compaction = createCompaction(db, blocks);
  for (let nth = 0; nth < 70; nth += 1) {
    write(1);
    expectAllAfter(0);
  }
  compaction.step();
  write(3);
  expectAllAfter(0);
  expect(find('user', 99)).toEqual([]);
  expect(find('eventID', 99, 1)).toEqual([]);
  expect(find('eventID', 1, 99)).toEqual([]);
  expect(tail.find({ what: 'user', number: 5, eventID: 0 }, 4, 8)).toEqual([5, 7, 8]);
});

test('drops indexed events and loads only the rest', () => {
  write(64);
  write(64);
  expectAllAfter(0);
  index(64);
  expect(tail.refresh()).toBe(true);
  expect(tail.indexed()).toBe(64);
  expectAllAfter(64);
  index(128);
  write(64);
  expectAllAfter(128);
  index(192);
  expect(tail.refresh()).toBe(true);
  for (const found of [find('user', 5), find('contact', 6), find('account', 1), find('eventID', 2, 4)]) {
    expect(found).toEqual([]);
  }
});

test('loads many events in several steps without losing any', () => {
  write(20_000);
  let steps = 1;
  while (!tail.refresh()) steps += 1;
  expect(steps).toBeGreaterThan(2);
  expectAllAfter(0);
});

test('discards events that were rolled back', () => {
  db.exec('BEGIN');
  write(10);
  expectAllAfter(0);
  db.exec('ROLLBACK');
  tail.forget();
  sequence = 0;
  expectAllAfter(0);
  write(5);
  expectAllAfter(0);
});
