/** Waits until a store has finished the work that follows its responses. */
import { setTimeout as wait } from 'node:timers/promises';
import { handedBytes } from './processes/process.ts';

const lookMilliseconds = 100;
const quietMilliseconds = 800;
const maxMilliseconds = 60_000;
/** Bytes between two looks that count as rest: threads wake each other up by writing a few bytes. */
const quietBytes = 20_000;

/**
 * Waits until the process that has the store open hardly writes, at most one minute. Returns the time (performance.now) of its last
 * write.
 */
export const settle = async (pid = process.pid): Promise<number> => {
  const began = performance.now();
  let wroteUntil = began;
  let before = handedBytes(pid) ?? 0;
  for (;;) {
    await wait(lookMilliseconds);
    const now = handedBytes(pid) ?? 0;
    const time = performance.now();
    if (now - before >= quietBytes) wroteUntil = time;
    before = now;
    if (time - wroteUntil > quietMilliseconds || time - began > maxMilliseconds) return wroteUntil;
  }
};
