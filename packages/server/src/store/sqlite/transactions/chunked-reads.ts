/** Runs reads in transactions. A long read is split into steps, between which other reads run. */
import type { Connection } from '../database/connection.ts';

/** A read that yields where other reads may run. It must not keep a statement open across a yield. */
export type ChunkedRead<Value> = Generator<void, Value, void>;

const isChunkedRead = (value: unknown): value is ChunkedRead<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value;

/** Runs a read. Each step sees one snapshot of the database. */
export const createReads = (db: Connection) => {
  const inTransaction = db.transaction((step: () => unknown) => step());
  return async (read: () => unknown): Promise<unknown> => {
    const first = inTransaction(read);
    if (!isChunkedRead(first)) return first;
    for (;;) {
      const { done, value } = inTransaction(() => first.next()) as IteratorResult<void, unknown>;
      if (done) return value;
      await new Promise(setImmediate);
    }
  };
};
