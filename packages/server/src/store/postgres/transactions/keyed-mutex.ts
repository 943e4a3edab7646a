/**
 * Runs writes one after the other if PostgreSQL would serialize them anyway. Waiting here, they do not occupy the few
 * connections, which unrelated writes need.
 */
import { Refusal } from '../../../shared/refusal.ts';

/** Equals a statement's lock timeout (connection.ts). */
const maxWaitMilliseconds = 5_000;

export const createKeyedMutex = () => {
  const last = new Map<string, Promise<unknown>>();

  /**
   * Runs work after all earlier work with the same key. Throws Refusal('unavailable') if the work has waited too long.
   */
  return async <Value>(key: string, work: () => Promise<Value>): Promise<Value> => {
    const before = last.get(key);
    const began = performance.now();
    const workUnlessLate = () => {
      if (performance.now() - began > maxWaitMilliseconds) throw new Refusal('unavailable', { retryAfterSeconds: 1 });
      return work();
    };
    const turn = before ? before.then(workUnlessLate, workUnlessLate) : work();
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
};
