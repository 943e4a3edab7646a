/**
 * Background work: deletes the events of erased contacts, and indexes contacts. Only one server at a time does this for
 * an account.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Connection, lockKeys } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The pause between checks for work. */
const pauseMilliseconds = 1_000;

/**
 * The number of consecutive checks to skip if nothing is written. Checks still run, because a stopped server may have
 * left work.
 */
const maxSkipped = 9;

/** The maximum number of accounts that a check returns for each kind of work. */
const maxAccounts = 100;

/** Returns accounts with pending work. */
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
  /** Runs a step. Returns whether there is more to do for the account. */
  readonly step: (db: Transaction) => Promise<boolean>;
}

export const startMaintenance = ({ find, inTransaction, step }: Parts) => {
  let isStopping = false;
  let isWoken = false;
  /** Whether something may have been written since a check that found nothing. */
  let mayHaveWork = true;
  let resting = new AbortController();

  const stepAlone = async (db: Transaction) => {
    const { mine } = await db.one<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockKeys.maintenance} + $1) AS mine`,
      [db.account],
    );
    return mine && step(db);
  };

  /** Runs a step for each account with pending work. Returns whether there is more. */
  const stepEach = async (): Promise<boolean> => {
    mayHaveWork = false;
    const accounts = await find();
    mayHaveWork ||= accounts.length > 0;
    let more = false;
    for (const account of accounts) {
      if (isStopping) break;
      // Retries a failed step after the pause.
      more = (await inTransaction(account, stepAlone).catch(() => false)) || more;
    }
    return more;
  };

  const run = async () => {
    for (let skipped = 0; !isStopping; ) {
      if (mayHaveWork || skipped === maxSkipped) {
        skipped = 0;
        isWoken = false;
        const more = await stepEach().catch(() => {
          mayHaveWork = true;
          return false;
        });
        if (more || isWoken || isStopping) continue;
      } else skipped += 1;
      resting = new AbortController();
      await wait(pauseMilliseconds, undefined, { signal: resting.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    /** Ensures that the next check runs, because something was written. */
    noteWrite(): void {
      mayHaveWork = true;
    },
    /** Ends the current pause, or skips the pause after the current step, because there is work. */
    wake(): void {
      mayHaveWork = true;
      isWoken = true;
      resting.abort();
    },
    async close(): Promise<void> {
      isStopping = true;
      resting.abort();
      await running;
    },
  };
};
