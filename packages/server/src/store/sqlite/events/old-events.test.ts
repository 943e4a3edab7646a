import { expect, test } from 'vitest';
import { day, newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';

const start = Date.UTC(2026, 0, 1, 9);
const ahead = 1_500;

/**
 * Logs events on these days, in a single commit or in one commit each. Returns how many are deleted on day 100 with a
 * retention of 30 days.
 */
const countDeleted = (days: readonly number[], { limit, together }: { limit: number; together: boolean }): number => {
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
  for (let deleted = limit; deleted === limit; total += deleted) {
    const [outcome] = engine.write([{ name: 'deleteEventsBefore', request: { time: now - 30 * day, limit, now } }]);
    deleted = (outcome as { value: number }).value;
  }
  db.close();
  return total;
};

test.each<[string, readonly number[], number]>([
  ['old events, but not later ones', [1, 2, 80, 90], 2],
  ['events with a future time before old events', [1, ahead, ahead, 2, 80], 4],
  ['events with a future time at the start, before old events', [ahead, ahead, ahead, 2, 80], 4],
  ['no events with a future time before recent events', [1, ahead, ahead, 80], 1],
  ['no events with a future time at the start, before recent events', [ahead, ahead, 80], 0],
  ['no events with a future time if none follow', [1, ahead, ahead], 1],
  ['no events after recent events, even with a time in 1970', [1, 80, -20_000, 90], 1],
])('deletes %s', (_, days, expected) => {
  for (const together of [false, true]) {
    for (const limit of [1, 2, 100]) {
      const where = together ? 'in one block' : 'in separate blocks';
      expect(countDeleted(days, { limit, together }), `${limit} at a time, ${where}`).toBe(expected);
    }
  }
});
