import { expect, test } from 'vitest';
import { day, newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';

const start = Date.UTC(2026, 0, 1, 9);
const ahead = 1_500;

/** How many events are deleted on day 100, of what was logged on these days, in this order, of those older than 30 days: in one commit, or in one for each. */
const deleteOf = (days: readonly number[], { most, together }: { most: number; together: boolean }): number => {
  const db = openMemory();
  const engine = createWriteEngine(db);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
  const calls = days.map((days_) => {
    const request = { account: 1, token: 1, browser: false, receivedTime: start + days_ * day, events: [newEvent()] };
    return { name: 'logEvents', request };
  });
  if (together) engine.write(calls);
  else for (const call of calls) engine.write([call]);
  const now = start + 100 * day;
  let total = 0;
  for (let deleted = most; deleted === most; total += deleted) {
    const [outcome] = engine.write([{ name: 'deleteEventsBefore', request: { time: now - 30 * day, most, now } }]);
    deleted = (outcome as { value: number }).value;
  }
  db.close();
  return total;
};

test.each<[string, readonly number[], number]>([
  ['what is old, and not what follows it', [1, 2, 80, 90], 2],
  ['what was stamped ahead of what is old', [1, ahead, ahead, 2, 80], 4],
  ['what was stamped ahead, at the beginning', [ahead, ahead, ahead, 2, 80], 4],
  ['not what was stamped ahead of what is young', [1, ahead, ahead, 80], 1],
  ['not what was stamped ahead, at the beginning', [ahead, ahead, 80], 0],
  ['not what was stamped ahead when nothing follows', [1, ahead, ahead], 1],
  ['nothing that follows what is young, though it be stamped 1970', [1, 80, -20_000, 90], 1],
])('deletes %s', (_, days, expected) => {
  for (const together of [false, true]) {
    for (const most of [1, 2, 100]) {
      const where = together ? 'of one block' : 'of blocks of their own';
      expect(deleteOf(days, { most, together }), `${most} at a time, ${where}`).toBe(expected);
    }
  }
});
