/** Runs writes in transactions. No other module begins or commits transactions. */
import { Refusal } from '../../../shared/refusal.ts';
import { type Connection, codeOf, isTransient } from '../database/connection.ts';

/** State in memory that must match the rows: a cache, or changes that are not written yet. */
export interface Pending {
  /**
   * Writes pending changes before a commit. Within a call, flush only when it can no longer be refused: after a
   * rollback, the changes would be neither in memory nor in the rows.
   */
  flush?(): void;
  /** Called after a rollback, or after another process commits: the state may then be stale. */
  forget(): void;
  /** Called after a single call was rolled back, but not the rest of the transaction. */
  undo?(): void;
}

/** Thrown by a call to return a value and roll back what it wrote. */
export class RolledBack extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super('the call was rolled back');
    this.value = value;
  }
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A call within a transaction. */
interface Work {
  readonly execute: () => unknown;
  /** Whether the call may throw a Refusal. A call that returns its refusals needs no savepoint. */
  readonly mayThrowRefusal: boolean;
}

/** Returns the value of an outcome, or throws its error. */
export const resultOf = (outcome: Outcome): unknown => {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
};

export const createTransactions = (db: Connection, pending: readonly Pending[], refreshIfStale: () => void) => {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const savepoint = db.prepare('SAVEPOINT call');
  const release = db.prepare('RELEASE call');
  const undo = db.prepare('ROLLBACK TO call');
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck();

  let committed = 0;
  const commitTimed = () => {
    const began = performance.now();
    commit.run();
    committed += performance.now() - began;
  };

  const attempt = ({ execute, mayThrowRefusal }: Work): Outcome => {
    if (!mayThrowRefusal) return { value: execute() };
    savepoint.run();
    const before = changes.get();
    try {
      const value = execute();
      release.run();
      return { value };
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof RolledBack)) throw error;
      // Most calls are refused before they write: the state in memory is then still valid, and rereading it would be
      // expensive.
      const wrote = changes.get() !== before;
      undo.run();
      release.run();
      if (wrote) for (const part of pending) part.undo?.();
      return error instanceof RolledBack ? { value: error.value } : { error };
    }
  };

  const runTogether = (calls: readonly Work[]): Outcome[] => {
    begin.run();
    try {
      refreshIfStale();
      const outcomes = calls.map(attempt);
      for (const part of pending) part.flush?.();
      commitTimed();
      return outcomes;
    } catch (error) {
      if (db.inTransaction) rollback.run();
      for (const part of pending) part.forget();
      throw error;
    }
  };

  /**
   * Runs the calls in one transaction and returns an outcome for each. A call that throws a Refusal has no effect.
   * After any other error, all calls are rolled back and rerun in separate transactions, so that the error affects only
   * its own call.
   *
   * If SQLite is busy or the disk is full, all calls are refused with `unavailable`. Throws only if the state on disk
   * is unknown.
   */
  const run = (calls: readonly Work[]): Outcome[] => {
    try {
      return runTogether(calls);
    } catch (error) {
      if (isFatal(error)) throw error;
      if (calls.length === 1 || isTransient(error)) return calls.map(() => ({ error: toOutcomeError(error) }));
      return calls.flatMap((call) => run([call]));
    }
  };

  return {
    run,
    /** The total duration of all COMMIT statements. */
    committedMilliseconds: (): number => committed,
    /** Runs work in its own transaction. Returns its value or throws the error that `run` would return. */
    runAlone: <Value>(work: () => Value): Value =>
      resultOf(run([{ execute: work, mayThrowRefusal: false }])[0] as Outcome) as Value,
  };
};
export type Transactions = ReturnType<typeof createTransactions>;

/**
 * Whether the state on disk is unknown: after a failed write or sync, the kernel may have dropped the pages. Only a
 * restart, which rereads the disk, is safe.
 */
const isFatal = (error: unknown) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(codeOf(error));

const toOutcomeError = (error: unknown) =>
  isTransient(error)
    ? new Refusal('unavailable', { retryAfterSeconds: codeOf(error).startsWith('SQLITE_FULL') ? 5 : 1, cause: error })
    : error;
