/** Bounds the memory of calls that wait for a store. */
import { Refusal } from '../shared/refusal.ts';

/** Calls over this limit get 503, so that memory stays bounded on a slow disk. */
export const maxWaitingBytes = 8 * 1024 * 1024;

/** The per-call overhead of promises and a queue entry. */
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
    /**
     * Adds a call and returns its approximate size in bytes. Throws Refusal('unavailable') if the total would exceed
     * the limit.
     */
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
    measure: () => ({ waitingBytes, waitingCalls: calls }),
    /** Resolves when no calls are waiting. */
    drain: (): Promise<void> => (calls === 0 ? Promise.resolve() : new Promise((resolve) => draining.push(resolve))),
  };
};
