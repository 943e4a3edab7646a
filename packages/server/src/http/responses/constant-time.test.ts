import { expect, it } from 'vitest';
import { respondInSteps, stepMilliseconds } from './constant-time.ts';

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Returns the shortest of several response times, because a busy machine inflates some of them. */
const timeOf = async (work: Promise<unknown>) => {
  const started = performance.now();
  await respondInSteps(work).catch(() => {});
  // Timers have millisecond resolution and can fire up to 1 ms early.
  return performance.now() - started + 1;
};

it('responds after one step if the work settles immediately, resolved or rejected', async () => {
  expect(await timeOf(Promise.resolve())).toBeGreaterThanOrEqual(stepMilliseconds);
  expect(await timeOf(Promise.reject(new Error('refused')))).toBeGreaterThanOrEqual(stepMilliseconds);
});

it('responds after two steps if the work takes longer than one', async () => {
  expect(await timeOf(later(stepMilliseconds * 1.5))).toBeGreaterThanOrEqual(2 * stepMilliseconds);
});

it('resolves or rejects like the work', async () => {
  expect(await respondInSteps(Promise.resolve('kept'))).toBe('kept');
  await expect(respondInSteps(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
});
