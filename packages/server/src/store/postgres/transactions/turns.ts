/**
 * Queues of writes that PostgreSQL would execute one after the other. They wait here, not on a connection: connections are few,
 * and unrelated writes would have to wait for one as well.
 */
import { Refusal } from '../../../shared/refusal.ts';

/** Equals the time that a statement waits for a lock (connection.ts). */
const maxWaitMilliseconds = 5_000;

export const createTurns = () => {
  const last = new Map<string, Promise<unknown>>();

  /** Runs the work after all earlier work of the same key. Throws Refusal('unavailable') when it waited too long. */
  return async <Value>(key: string, work: () => Promise<Value>): Promise<Value> => {
    const before = last.get(key);
    const asked = performance.now();
    const workAtLast = () => {
      if (performance.now() - asked > maxWaitMilliseconds) throw new Refusal('unavailable', { retryAfterSeconds: 1 });
      return work();
    };
    const turn = before ? before.then(workAtLast, workAtLast) : work();
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
};
