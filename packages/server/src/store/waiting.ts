/** What waits for a store, by about how much memory it holds: beyond a bound, more is refused. */
import { Refusal } from '../refusal.ts';

/** Beyond it the answer is 503, so that memory stays bounded on the slowest disk. */
export const mostWaitingBytes = 8 * 1024 * 1024;

/** What a call holds beside its request: its promises, its place in the queue. */
const bytesPerCall = 512;

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return 32 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 64;
  if (Array.isArray(value)) for (const entry of value) bytes += bytesOf(entry);
  else for (const name in value) bytes += bytesOf((value as Record<string, unknown>)[name]);
  return bytes;
};

export interface Waiting {
  /** Answers how much a request holds; throws Refusal('not_kept') when that is more than may wait. */
  enter(request: unknown): number;
  leave(bytes: number): void;
  /** Resolves when nothing waits. */
  drain(): Promise<void>;
}

export const createWaiting = (): Waiting => {
  let waiting = 0;
  let draining: (() => void)[] = [];
  return {
    enter(request) {
      const bytes = bytesPerCall + bytesOf(request);
      if (waiting + bytes > mostWaitingBytes) throw new Refusal('not_kept', { retryAfterSeconds: 1 });
      waiting += bytes;
      return bytes;
    },
    leave(bytes) {
      waiting -= bytes;
      if (waiting > 0) return;
      for (const resolve of draining) resolve();
      draining = [];
    },
    drain: () => (waiting === 0 ? Promise.resolve() : new Promise((resolve) => draining.push(resolve))),
  };
};
