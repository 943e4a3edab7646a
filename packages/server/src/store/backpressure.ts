/** Limits the memory of the calls that wait for a store; refuses calls beyond the limit. */
import { Refusal } from '../shared/refusal.ts';

/** Beyond this limit, calls get 503, so that memory stays bounded however slow the disk is. */
export const mostWaitingBytes = 8 * 1024 * 1024;

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
  /** The bytes of the calls that wait for a machine. Each has a limit of its own, so that those of one that hangs refuse none of another's. */
  const waiting = new Map<number, number>();
  let calls = 0;
  let draining: (() => void)[] = [];
  const add = (bytes: number, machine: number) => {
    const sum = (waiting.get(machine) ?? 0) + bytes;
    if (sum > mostWaitingBytes) throw new Refusal('not_kept', { retryAfterSeconds: 1 });
    waiting.set(machine, sum);
  };
  return {
    /** Returns about how many bytes a request holds. Throws Refusal('not_kept') when they exceed the limit with those that wait. */
    enter(request: unknown): number {
      const bytes = bytesPerCall + bytesOf(request);
      add(bytes, 0);
      calls += 1;
      return bytes;
    },
    /** Counts the bytes of a call that has entered as those of another machine's. Throws as `enter`; they are then counted as before. */
    move(bytes: number, machine: number): void {
      if (machine === 0) return;
      add(bytes, machine);
      add(-bytes, 0);
    },
    leave(bytes: number, machine = 0): void {
      add(-bytes, machine);
      calls -= 1;
      if (calls > 0) return;
      for (const resolve of draining) resolve();
      draining = [];
    },
    /** What waits now. */
    measure: () => ({
      waitingBytes: [...waiting.values()].reduce((sum, bytes) => sum + bytes, 0),
      waitingCalls: calls,
    }),
    /** Resolves when no call waits. */
    drain: (): Promise<void> => (calls === 0 ? Promise.resolve() : new Promise((resolve) => draining.push(resolve))),
  };
};
