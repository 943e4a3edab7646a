import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { soon } from '../../test/fixtures/timeouts.ts';
import { startRetentionJob } from './retention-job.ts';

const log = pino({ level: 'silent' });
const dayMs = 86_400_000;
const deleteExpired = async () => ({ deleted: 0, next: null });

it('deletes older events in batches until none are left', async () => {
  const now = Date.UTC(2026, 5, 15);
  let left = 1_200;
  const requests: { time: number; limit: number }[] = [];
  const deleteEventsBefore = async (request: { time: number; limit: number }) => {
    requests.push(request);
    const deleted = Math.min(left, request.limit);
    left -= deleted;
    return deleted;
  };
  const stop = startRetentionJob({ deleteEventsBefore, deleteExpired }, { days: 30, log, now: () => now });
  await vi.waitUntil(() => left === 0, soon);
  await stop();
  expect(new Set(requests.map(({ time }) => time))).toEqual(new Set([now - 30 * dayMs]));
  expect(requests).toHaveLength(3);
});

it('survives a failed batch, and stops between batches', async () => {
  let calls = 0;
  const deleteEventsBefore = async ({ limit }: { limit: number }) => {
    calls += 1;
    return limit;
  };
  const failing = startRetentionJob(
    { deleteEventsBefore: () => Promise.reject(new Error('busy')), deleteExpired },
    { days: 1, log },
  );
  await failing();
  const stop = startRetentionJob({ deleteEventsBefore, deleteExpired }, { days: 1, log });
  await vi.waitUntil(() => calls > 2, soon);
  await stop();
  const before = calls;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(calls).toBe(before);
});

it('deletes nothing while the clock is not trusted', async () => {
  let calls = 0;
  let now = Date.UTC(2026, 5, 15);
  const deleteEventsBefore = async () => {
    calls += 1;
    return 0;
  };
  const countDeleteExpired = async () => {
    calls += 1;
    return { deleted: 0, next: null };
  };
  const stop = startRetentionJob(
    { deleteEventsBefore, deleteExpired: countDeleteExpired },
    {
      days: 30,
      log,
      now: () => {
        // The clock jumps a year ahead at each reading.
        now += 365 * dayMs;
        return now;
      },
    },
  );
  await stop();
  expect(calls).toBe(0);
});

it('deletes expired sessions and share links in batches, even if events are stored forever', async () => {
  const now = Date.UTC(2026, 5, 15);
  const requests: object[] = [];
  const store = {
    deleteEventsBefore: async () => 0,
    deleteExpired: async (request: { time: number; after: number; limit: number }) => {
      requests.push(request);
      return { deleted: 1, next: request.after < 1_000 ? request.after + 500 : null };
    },
  };
  const stop = startRetentionJob(store, { log, now: () => now });
  await vi.waitUntil(() => requests.length === 3, soon);
  await stop();
  expect(requests).toEqual([0, 500, 1_000].map((after) => ({ time: now, after, limit: 500 })));
});

it('deletes old events even if deleting expired sessions fails', async () => {
  let calls = 0;
  const store = {
    deleteExpired: () => Promise.reject(new Error('busy')),
    deleteEventsBefore: async () => {
      calls += 1;
      return 0;
    },
  };
  const stop = startRetentionJob(store, { days: 30, log });
  await vi.waitUntil(() => calls > 0, soon);
  await stop();
  expect(calls).toBe(1);
});
