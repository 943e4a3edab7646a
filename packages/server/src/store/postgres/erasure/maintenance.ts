/** Work that is not urgent: deleting the events of erased contacts, indexing contacts. Any server does it, one at a time. */
import { setTimeout as wait } from 'node:timers/promises';
import { lockKeys } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The pause between checks for work, which another server may have left when it ended. */
const pauseMilliseconds = 1_000;

/** `inTransaction` runs a step in its own transaction; `step` returns whether more is to be done. */
export const startMaintenance = (
  inTransaction: (step: (db: Transaction) => Promise<boolean>) => Promise<boolean>,
  step: (db: Transaction) => Promise<boolean>,
) => {
  let stopping = false;
  let woken = false;
  let resting = new AbortController();

  const stepAlone = async (db: Transaction) => {
    const { mine } = await db.one<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockKeys.maintenance}) AS mine`,
    );
    return mine && step(db);
  };

  const run = async () => {
    while (!stopping) {
      woken = false;
      // A step that fails is tried again after the pause.
      const more = await inTransaction(stepAlone).catch(() => false);
      if (more || woken || stopping) continue;
      resting = new AbortController();
      await wait(pauseMilliseconds, undefined, { signal: resting.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    /** Ends the present pause, or skips that after the present step, because there is work. */
    wake(): void {
      woken = true;
      resting.abort();
    },
    async close(): Promise<void> {
      stopping = true;
      resting.abort();
      await running;
    },
  };
};
