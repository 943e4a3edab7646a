/** What may take its time: deleting the events of what was erased. By one server at a time, whichever is there. */
import { setTimeout as wait } from 'node:timers/promises';
import { lockKeys } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** Between two looks at whether there is anything to do, which a server that has ended may have left behind. */
const pauseMilliseconds = 1_000;

export interface Tidying {
  /** There is something to do. */
  wake(): void;
  close(): Promise<void>;
}

/** `inTransaction` carries out a step in a transaction of its own; `step` answers whether there is more to do. */
export const startTidying = (
  inTransaction: (step: (db: Transaction) => Promise<boolean>) => Promise<boolean>,
  step: (db: Transaction) => Promise<boolean>,
): Tidying => {
  let stopping = false;
  let resting = new AbortController();

  const stepAlone = async (db: Transaction) => {
    const { mine } = await db.one<{ mine: boolean }>(`SELECT pg_try_advisory_xact_lock(${lockKeys.tidying}) AS mine`);
    return mine && step(db);
  };

  const run = async () => {
    while (!stopping) {
      // What could not be done now is done later.
      const more = await inTransaction(stepAlone).catch(() => false);
      if (more || stopping) continue;
      resting = new AbortController();
      await wait(pauseMilliseconds, undefined, { signal: resting.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    wake: () => resting.abort(),
    async close() {
      stopping = true;
      resting.abort();
      await running;
    },
  };
};
