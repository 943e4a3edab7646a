/** Waits until a store has finished the work that follows its responses. */
import { setTimeout as wait } from 'node:timers/promises';
import { requestedWriteBytes } from './processes/process.ts';

const pollMilliseconds = 100;
const quietMilliseconds = 800;
const maxMilliseconds = 60_000;
/** Fewer bytes per poll count as idle: threads wake each other up by writing a few bytes. */
const quietBytes = 20_000;

/**
 * Waits at most one minute until the process that has opened the store is nearly idle. Returns the time of the
 * process's last write (performance.now).
 */
export const settle = async (pid = process.pid): Promise<number> => {
  const startTime = performance.now();
  let lastWrite = startTime;
  let before = requestedWriteBytes(pid) ?? 0;
  for (;;) {
    await wait(pollMilliseconds);
    const now = requestedWriteBytes(pid) ?? 0;
    const time = performance.now();
    if (now - before >= quietBytes) lastWrite = time;
    before = now;
    if (time - lastWrite > quietMilliseconds || time - startTime > maxMilliseconds) return lastWrite;
  }
};
