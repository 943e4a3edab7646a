import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { createCountingForAll } from '../http/counting.ts';
import { defaultRateLimits } from '../http/rate-limits.ts';
import { Refusal } from '../refusal.ts';
import { createAsking } from './asking.ts';
import { createWorkerCounts } from './counts.ts';
import type { Ask } from './messages.ts';

/** Workers that ask one process; and how often each has. */
const setUp = (workers: number) => {
  const counting = createCountingForAll({ ...defaultRateLimits, user: { perSecond: 0.001, burst: 3 } });
  return Array.from({ length: workers }, () => {
    const counts = createWorkerCounts(counting);
    const messages: (readonly Ask[])[] = [];
    const asking = createAsking([], (asks) => {
      messages.push(asks);
      setImmediate(() => asking.answered(structuredClone(counts.answer(structuredClone(asks)))));
    });
    return { asking, counts, messages };
  }) as [Worker, ...Worker[]];
};
type Worker = {
  asking: ReturnType<typeof createAsking>;
  counts: ReturnType<typeof createWorkerCounts>;
  messages: (readonly Ask[])[];
};

const isRefused = (asked: unknown) =>
  Promise.resolve(asked).then(
    () => false,
    (error) => error instanceof Refusal && error.code === 'too_many_requests' && Number(error.retryAfterSeconds) > 0,
  );

it('counts the calls of all workers, and asks once in a turn', async () => {
  const [one, other] = setUp(2) as [Worker, Worker];
  const counted = { token: 1, user: 'somebody', events: 1, bytes: 1, createsContact: false };
  const refused: boolean[] = [];
  const app = new Hono().get('/', async (c) => {
    const asked = [one, one, other, other].map(({ asking }) => asking.takeBrowserLimits(c, counted));
    refused.push(...(await Promise.all(asked.map(isRefused))));
    return c.body(null, 204);
  });
  await app.request('/');
  expect(refused.filter((is) => !is)).toHaveLength(3);
  expect([one.messages.length, other.messages.length]).toEqual([1, 1]);
});

it('counts guesses from a network, and takes back those that were none', async () => {
  const [one, other] = setUp(2) as [Worker, Worker];
  const { burst } = defaultRateLimits.unknownToken;
  for (let guess = 0; guess < burst; guess += 1) {
    const { unknownTokens } = (guess % 2 ? one : other).asking;
    await unknownTokens.take('192.0.2.1');
  }
  expect(await isRefused(one.asking.unknownTokens.take('192.0.2.1'))).toBe(true);
  expect(await isRefused(one.asking.unknownTokens.take('192.0.2.2'))).toBe(false);
  other.asking.unknownTokens.giveBack('192.0.2.1');
  await other.asking.unknownTokens.take('192.0.2.3');
  expect(await isRefused(one.asking.unknownTokens.take('192.0.2.1'))).toBe(false);
});

it('counts streams, and gives back those of a worker that has ended', async () => {
  const [one, other] = setUp(2) as [Worker, Worker];
  for (let stream = 0; stream < 50; stream += 1) {
    await one.asking.streamPlaces.enter(1);
    await other.asking.streamPlaces.enter(1);
  }
  expect(await isRefused(one.asking.streamPlaces.enter(1))).toBe(true);
  await other.asking.streamPlaces.leave(1);
  expect(await isRefused(one.asking.streamPlaces.enter(1))).toBe(false);
  expect(await isRefused(one.asking.streamPlaces.enter(1))).toBe(true);
  one.counts.end();
  for (let stream = 0; stream < 51; stream += 1) await other.asking.streamPlaces.enter(1);
  expect(await isRefused(other.asking.streamPlaces.enter(1))).toBe(true);
});

it("knows of a browser's clock what another worker has learnt", async () => {
  const [one, other] = setUp(2) as [Worker, Worker];
  expect(await one.asking.clockErrorOf('1 somebody', 3_600_000)).toBe(3_600_000);
  expect(await other.asking.clockErrorOf('1 somebody', 3_603_000)).toBe(3_600_000);
});
