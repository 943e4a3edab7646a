import { beforeEach, expect, test } from 'vitest';
import { quarter } from '../../../../test/fixtures/store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createRollups, type Rollups, totalsPerStep } from './rollups.ts';

let db: Connection;
let rollups: Rollups;
let sequence: number;
beforeEach(() => {
  db = openMemory();
  rollups = createRollups(db, 10);
  sequence = 0;
});

const newEvent = (changes: { eventID?: number; eventTime?: number } = {}) => {
  sequence += 1;
  return { account: 1, day: 0, sequence, eventID: 1, eventTime: 0, bytes: 100, ...changes };
};
/** Commits this number of events, one for each eventID. */
const commit = (events: number, eventTime = 0) => {
  for (let eventID = 1; eventID <= events; eventID += 1) rollups.add(newEvent({ eventID, eventTime }));
  rollups.flush();
};
const rowsOf = (table: string) =>
  db.prepare(`SELECT eventID, quarter, count, firstTime, lastTime FROM ${table} ORDER BY eventID, quarter`).all();
const countOf = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

test('writes only to the recent rollups until there are enough to move', () => {
  expect(rollups.step()).toBe(false);
  commit(9);
  expect(rollups.isDue()).toBe(false);
  expect(rollups.step()).toBe(false);
  expect([countOf('recent_total'), countOf('event_total')]).toEqual([9, 0]);
  commit(1, 7);
  expect(rollups.isDue()).toBe(true);
  expect(rollups.step()).toBe(false);
  expect(rollups.isDue()).toBe(false);
  expect([countOf('recent_total'), countOf('event_total')]).toEqual([0, 9]);
  expect(rowsOf('event_total')[0]).toEqual({ eventID: 1, quarter: 0, count: 2, firstTime: 0, lastTime: 7 });
});

test('adds moved rollups to existing ones, and combines their times', () => {
  commit(10, 5);
  rollups.settle();
  commit(10, 3);
  commit(10, 8);
  rollups.settle();
  expect(rowsOf('event_total')).toHaveLength(10);
  expect(rowsOf('event_total')[9]).toEqual({ eventID: 10, quarter: 0, count: 3, firstTime: 3, lastTime: 8 });
});

test('moves many rollups in steps', () => {
  commit(totalsPerStep + 1);
  expect(rollups.step()).toBe(true);
  expect([countOf('recent_total'), countOf('event_total')]).toEqual([1, totalsPerStep]);
  expect(rollups.step()).toBe(false);
  expect([countOf('recent_total'), countOf('event_total')]).toEqual([0, totalsPerStep + 1]);
});

test('moves a previous server’s recent rollups', () => {
  commit(3);
  rollups = createRollups(db, 10);
  expect(rollups.isDue()).toBe(true);
  expect(rollups.step()).toBe(false);
  expect([countOf('recent_total'), countOf('event_total')]).toEqual([0, 3]);
});

test('subtracts a deleted event, no matter where it was counted', () => {
  const [first, second, third] = [newEvent(), newEvent({ eventTime: 5 }), newEvent({ eventTime: quarter })];
  rollups.add(first);
  rollups.flush();
  rollups.settle();
  rollups.add(second);
  rollups.flush();
  rollups.add(third);
  rollups.remove(second);
  rollups.remove(third);
  rollups.flush();
  expect(countOf('recent_total')).toBe(0);
  expect(rowsOf('event_total')).toEqual([{ eventID: 1, quarter: 0, count: 1, firstTime: 0, lastTime: quarter }]);
  rollups.remove(first);
  expect(countOf('event_total')).toBe(0);
});

test('discards pending counts after a rollback, and rereads the rollups', () => {
  commit(10);
  rollups.settle();
  db.exec('BEGIN');
  commit(2);
  rollups.add(newEvent());
  db.exec('ROLLBACK');
  rollups.forget();
  rollups.flush();
  expect(rollups.isDue()).toBe(true);
  rollups.settle();
  expect(rowsOf('event_total').map((row) => (row as { count: number }).count)).toEqual(Array(10).fill(1));
});
