import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { startRetention } from './retention.ts';

const log = pino({ level: 'silent' });
const dayMs = 86_400_000;

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
  const stop = startRetention({ deleteEventsBefore }, { days: 30, log, now: () => now });
  await vi.waitUntil(() => left === 0, { timeout: 20_000 });
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
  const failing = startRetention({ deleteEventsBefore: () => Promise.reject(new Error('busy')) }, { days: 1, log });
  await failing();
  const stop = startRetention({ deleteEventsBefore }, { days: 1, log });
  await vi.waitUntil(() => calls > 2, { timeout: 20_000 });
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
  const stop = startRetention(
    { deleteEventsBefore },
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
