import { expect, it } from 'vitest';
import { answerInSteps, stepMilliseconds } from './constant-time.ts';

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** How long an answer takes at least; a busy machine may make it longer. */
const timeOf = async (work: Promise<unknown>) => {
  const started = performance.now();
  await answerInSteps(work).catch(() => {});
  // Timers are told in whole milliseconds, and may ring one before.
  return performance.now() - started + 1;
};

it('comes a step later when there was nothing to do, done or refused', async () => {
  expect(await timeOf(Promise.resolve())).toBeGreaterThanOrEqual(stepMilliseconds);
  expect(await timeOf(Promise.reject(new Error('refused')))).toBeGreaterThanOrEqual(stepMilliseconds);
});

it('comes at the second step when the work takes longer than one', async () => {
  expect(await timeOf(later(stepMilliseconds * 1.5))).toBeGreaterThanOrEqual(2 * stepMilliseconds);
});

it('is what the work answers, or throws', async () => {
  expect(await answerInSteps(Promise.resolve('kept'))).toBe('kept');
  await expect(answerInSteps(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
});
