/** Reads, each in a transaction; a long one is cut into steps, so that other reads take their turn between two of them. */
import type { Connection } from './connection.ts';

/** A read that yields where others may go first. Nothing of the database is held open across a yield. */
export type Steps<Value> = Generator<void, Value, void>;

const isSteps = (value: unknown): value is Steps<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value;

/** Carries out a read; what one step of it sees is of one moment. */
export const createReads = (db: Connection) => {
  const inTransaction = db.transaction((step: () => unknown) => step());
  return async (read: () => unknown): Promise<unknown> => {
    const first = inTransaction(read);
    if (!isSteps(first)) return first;
    for (;;) {
      const { done, value } = inTransaction(() => first.next()) as IteratorResult<void, unknown>;
      if (done) return value;
      await new Promise(setImmediate);
    }
  };
};
