import { expect, test } from 'vitest';
import { Refusal } from '../shared/refusal.ts';
import { createBackpressure, mostWaitingBytes } from './backpressure.ts';

/** Takes about a quarter of the limit. */
const large = 'x'.repeat(mostWaitingBytes / 8);

test('calls that wait for one machine refuse none that wait for another', () => {
  const waiting = createBackpressure();
  const enter = (machine: number) => {
    const bytes = waiting.enter(large);
    waiting.move(bytes, machine);
    return bytes;
  };
  const held = [enter(1), enter(1), enter(1)];
  const refused = waiting.enter(large);
  expect(() => waiting.move(refused, 1)).toThrow(Refusal);
  waiting.leave(refused);
  const other = enter(2);
  expect(waiting.measure()).toMatchObject({ waitingCalls: 4 });
  waiting.leave(held[0] as number, 1);
  held[0] = enter(1);
  for (const bytes of held) waiting.leave(bytes, 1);
  waiting.leave(other, 2);
  expect(waiting.measure()).toEqual({ waitingBytes: 0, waitingCalls: 0 });
});

test('calls that wait to know their machine are refused beyond the same limit', () => {
  const waiting = createBackpressure();
  for (let nth = 0; nth < 3; nth += 1) waiting.enter(large);
  expect(() => waiting.enter(large)).toThrow(Refusal);
});

test('all have left when no call waits for any machine', async () => {
  const waiting = createBackpressure();
  await waiting.drain();
  const [one, other] = [waiting.enter(large), waiting.enter(large)];
  waiting.move(one, 1);
  waiting.move(other, 2);
  let isDrained = false;
  const draining = waiting.drain().then(() => {
    isDrained = true;
  });
  waiting.leave(one, 1);
  await Promise.resolve();
  expect(isDrained).toBe(false);
  waiting.leave(other, 2);
  await draining;
});
