import { expect, it } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

const { signal } = new AbortController();

it('runs at most the given number of tasks concurrently, and queues the others in order', async () => {
  const run = createConcurrencyLimit(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const all = [1, 2, 3, 4].map((nth) =>
    run(async () => {
      started.push(nth);
      await new Promise<void>((end) => ends.push(end));
      return nth;
    }, signal),
  );
  await Promise.resolve();
  expect(started).toEqual([1, 2]);
  for (let nth = 0; nth < 4; nth += 1) {
    await expect.poll(() => ends[nth]).toBeDefined();
    ends[nth]?.();
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
  expect(started).toEqual([1, 2, 3, 4]);
});

it('skips an aborted task, and continues after a failure', async () => {
  const run = createConcurrencyLimit(1);
  const controller = new AbortController();
  const failing = run(async () => {
    throw new Error('no answer');
  }, signal);
  const aborted = run(async () => 'begun', controller.signal);
  const last = run(async () => 'last', signal);
  controller.abort();
  await expect(failing).rejects.toThrow('no answer');
  await expect(aborted).rejects.toThrow(/abort/i);
  expect(await last).toBe('last');
});
