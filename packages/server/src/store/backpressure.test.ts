import { expect, test } from 'vitest';
import { Refusal } from '../shared/refusal.ts';
import { createBackpressure, maxWaitingBytes } from './backpressure.ts';

/** About a quarter of the limit. */
const large = 'x'.repeat(maxWaitingBytes / 8);

test('refuses calls over the limit until a waiting call finishes', () => {
  const waiting = createBackpressure();
  const held = [waiting.enter(large), waiting.enter(large), waiting.enter(large)];
  expect(() => waiting.enter(large)).toThrow(Refusal);
  expect(waiting.measure()).toMatchObject({ waitingCalls: 3 });
  waiting.leave(held[0] as number);
  held[0] = waiting.enter(large);
  for (const bytes of held) waiting.leave(bytes);
  expect(waiting.measure()).toEqual({ waitingBytes: 0, waitingCalls: 0 });
});

test('resolves drain() when the last call finishes', async () => {
  const waiting = createBackpressure();
  await waiting.drain();
  const [first, second] = [waiting.enter(large), waiting.enter(large)];
  let isDrained = false;
  const draining = waiting.drain().then(() => {
    isDrained = true;
  });
  waiting.leave(first);
  await Promise.resolve();
  expect(isDrained).toBe(false);
  waiting.leave(second);
  await draining;
});
