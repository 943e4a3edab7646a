/** Work that is not urgent: deleting the events of erased contacts, indexing contacts. Any server does it, one at a time. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Connection, lockKeys } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The pause between checks for work. */
const pauseMilliseconds = 1_000;

/** How many checks in a row are left out while nothing is written. The next is made, because a server that has ended may have left work. */
const maxLeftOut = 9;

/** The most accounts whose work is looked for at once. */
const maxAccounts = 100;

/** Returns accounts with such work. */
export const findWork = async (db: Connection): Promise<number[]> =>
  (
    await db.all<{ account: number }>(`
      (SELECT DISTINCT account FROM erasure WHERE NOT complete LIMIT ${maxAccounts})
      UNION (SELECT DISTINCT account FROM contact_changed LIMIT ${maxAccounts})`)
  ).map(({ account }) => account);

interface Parts {
  readonly find: () => Promise<readonly number[]>;
  /** Runs a step for an account in its own transaction. */
  readonly inTransaction: (account: number, step: (db: Transaction) => Promise<boolean>) => Promise<boolean>;
  /** Returns whether more is to be done for the account. */
  readonly step: (db: Transaction) => Promise<boolean>;
}

export const startMaintenance = ({ find, inTransaction, step }: Parts) => {
  let stopping = false;
  let woken = false;
  /** Whether something was written since a check that found nothing. */
  let mayHaveWork = true;
  let resting = new AbortController();

  const stepAlone = async (db: Transaction) => {
    const { mine } = await db.one<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockKeys.maintenance} + $1) AS mine`,
      [db.account],
    );
    return mine && step(db);
  };

  /** A step for each account that has work. Returns whether there is more. */
  const stepEach = async (): Promise<boolean> => {
    mayHaveWork = false;
    const accounts = await find();
    mayHaveWork ||= accounts.length > 0;
    let more = false;
    for (const account of accounts) {
      if (stopping) break;
      // A step that fails is tried again after the pause.
      more = (await inTransaction(account, stepAlone).catch(() => false)) || more;
    }
    return more;
  };

  const run = async () => {
    for (let leftOut = 0; !stopping; ) {
      if (mayHaveWork || leftOut === maxLeftOut) {
        leftOut = 0;
        woken = false;
        const more = await stepEach().catch(() => {
          mayHaveWork = true;
          return false;
        });
        if (more || woken || stopping) continue;
      } else leftOut += 1;
      resting = new AbortController();
      await wait(pauseMilliseconds, undefined, { signal: resting.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    /** Makes the next check, because something was written. */
    noteWrite(): void {
      mayHaveWork = true;
    },
    /** Ends the present pause, or skips that after the present step, because there is work. */
    wake(): void {
      mayHaveWork = true;
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
