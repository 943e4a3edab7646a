import { expect, test } from 'vitest';
import { Refusal } from '../shared/refusal.ts';
import { createBackpressure, maxWaitingBytes } from './backpressure.ts';

/** Takes about a quarter of the limit. */
const large = 'x'.repeat(maxWaitingBytes / 8);

test('calls beyond the limit are refused until one has left', () => {
  const waiting = createBackpressure();
  const held = [waiting.enter(large), waiting.enter(large), waiting.enter(large)];
  expect(() => waiting.enter(large)).toThrow(Refusal);
  expect(waiting.measure()).toMatchObject({ waitingCalls: 3 });
  waiting.leave(held[0] as number);
  held[0] = waiting.enter(large);
  for (const bytes of held) waiting.leave(bytes);
  expect(waiting.measure()).toEqual({ waitingBytes: 0, waitingCalls: 0 });
});

test('drain resolves when the last call has left', async () => {
  const waiting = createBackpressure();
  await waiting.drain();
  const [one, other] = [waiting.enter(large), waiting.enter(large)];
  let isDrained = false;
  const draining = waiting.drain().then(() => {
    isDrained = true;
  });
  waiting.leave(one);
  await Promise.resolve();
  expect(isDrained).toBe(false);
  waiting.leave(other);
  await draining;
});
