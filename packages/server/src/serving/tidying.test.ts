import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { soon } from '../../test/fixtures/patience.ts';
import { startTidying } from './tidying.ts';

const log = pino({ level: 'silent' });
const dayMs = 86_400_000;
const deleteEnded = async () => ({ deleted: 0, next: null });

it('deletes what is older, batch by batch, until there is no more', async () => {
  const now = Date.UTC(2026, 5, 15);
  let left = 1_200;
  const asked: { time: number; most: number }[] = [];
  const deleteEventsBefore = async (request: { time: number; most: number }) => {
    asked.push(request);
    const deleted = Math.min(left, request.most);
    left -= deleted;
    return deleted;
  };
  const stop = startTidying({ deleteEventsBefore, deleteEnded }, { days: 30, log, now: () => now });
  await vi.waitUntil(() => left === 0, soon);
  await stop();
  expect(new Set(asked.map(({ time }) => time))).toEqual(new Set([now - 30 * dayMs]));
  expect(asked).toHaveLength(3);
});

it('outlives a batch that fails, and stops in the middle of many', async () => {
  let calls = 0;
  const deleteEventsBefore = async ({ most }: { most: number }) => {
    calls += 1;
    return most;
  };
  const failing = startTidying(
    { deleteEventsBefore: () => Promise.reject(new Error('busy')), deleteEnded },
    { days: 1, log },
  );
  await failing();
  const stop = startTidying({ deleteEventsBefore, deleteEnded }, { days: 1, log });
  await vi.waitUntil(() => calls > 2, soon);
  await stop();
  const before = calls;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(calls).toBe(before);
});

it('deletes nothing for as long as the clock is not to be believed', async () => {
  let calls = 0;
  let now = Date.UTC(2026, 5, 15);
  const deleteEventsBefore = async () => {
    calls += 1;
    return 0;
  };
  const counted = async () => {
    calls += 1;
    return { deleted: 0, next: null };
  };
  const stop = startTidying(
    { deleteEventsBefore, deleteEnded: counted },
    {
      days: 30,
      log,
      now: () => {
        // Put forward by a year at a time.
        now += 365 * dayMs;
        return now;
      },
    },
  );
  await stop();
  expect(calls).toBe(0);
});

it('deletes what has ended, batch by batch, whether events are deleted or not', async () => {
  const now = Date.UTC(2026, 5, 15);
  const asked: object[] = [];
  const store = {
    deleteEventsBefore: async () => 0,
    deleteEnded: async (request: { time: number; after: number; most: number }) => {
      asked.push(request);
      return { deleted: 1, next: request.after < 1_000 ? request.after + 500 : null };
    },
  };
  const stop = startTidying(store, { log, now: () => now });
  await vi.waitUntil(() => asked.length === 3, soon);
  await stop();
  expect(asked).toEqual([0, 500, 1_000].map((after) => ({ time: now, after, most: 500 })));
});

it('deletes old events also when what has ended can’t be deleted', async () => {
  let calls = 0;
  const store = {
    deleteEnded: () => Promise.reject(new Error('busy')),
    deleteEventsBefore: async () => {
      calls += 1;
      return 0;
    },
  };
  const stop = startTidying(store, { days: 30, log });
  await vi.waitUntil(() => calls > 0, soon);
  await stop();
  expect(calls).toBe(1);
});
