/** Limits the memory of the calls that wait for a store; refuses calls beyond the limit. */
import { Refusal } from '../shared/refusal.ts';

/** Beyond this limit, calls get 503, so that memory stays bounded however slow the disk is. */
export const maxWaitingBytes = 8 * 1024 * 1024;

/** Bytes that a call holds besides its request: promises and its place in the queue. */
const bytesPerCall = 512;

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return 32 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 64;
  if (Array.isArray(value)) for (const entry of value) bytes += bytesOf(entry);
  else for (const name in value) bytes += bytesOf((value as Record<string, unknown>)[name]);
  return bytes;
};

export const createBackpressure = () => {
  let waitingBytes = 0;
  let calls = 0;
  let draining: (() => void)[] = [];
  return {
    /** Returns about how many bytes a request holds. Throws Refusal('unavailable') when they exceed the limit with those that wait. */
    enter(request: unknown): number {
      const bytes = bytesPerCall + bytesOf(request);
      if (waitingBytes + bytes > maxWaitingBytes) throw new Refusal('unavailable', { retryAfterSeconds: 1 });
      waitingBytes += bytes;
      calls += 1;
      return bytes;
    },
    leave(bytes: number): void {
      waitingBytes -= bytes;
      calls -= 1;
      if (calls > 0) return;
      for (const resolve of draining) resolve();
      draining = [];
    },
    /** What waits now. */
    measure: () => ({ waitingBytes, waitingCalls: calls }),
    /** Resolves when no call waits. */
    drain: (): Promise<void> => (calls === 0 ? Promise.resolve() : new Promise((resolve) => draining.push(resolve))),
  };
};
