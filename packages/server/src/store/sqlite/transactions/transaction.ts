/** Runs writes in transactions: the only place that begins and commits them. */
import { Refusal } from '../../../shared/refusal.ts';
import { type Connection, codeOf, isNotNow } from '../database/connection.ts';

/** State in memory beside the rows: a cache, or changes that are not written yet. */
export interface Pending {
  /**
   * Writes the changes before a commit. Within a call, flush only where nothing can refuse the call any more: rolled back, the
   * changes would be neither in memory nor in the rows.
   */
  flush?(): void;
  /** Called after a rollback of the transaction, or after a commit of another process: the state may not match the rows. */
  forget(): void;
  /** Called after one call was rolled back but the other calls of the transaction were not. */
  undo?(): void;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A call within a transaction. */
interface Work {
  readonly carryOut: () => unknown;
  /** Whether the call throws a Refusal when it is refused. A call that returns its refusals needs no savepoint. */
  readonly mayThrowRefusal: boolean;
}

/** Returns the value of an outcome, or throws its error. */
export const resultOf = (outcome: Outcome): unknown => {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
};

export const createTransactions = (db: Connection, pending: readonly Pending[], noticeOthers: () => void) => {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const mark = db.prepare('SAVEPOINT call');
  const release = db.prepare('RELEASE call');
  const undo = db.prepare('ROLLBACK TO call');
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck();

  let committed = 0;
  const commitTimed = () => {
    const began = performance.now();
    commit.run();
    committed += performance.now() - began;
  };

  const attempt = ({ carryOut, mayThrowRefusal }: Work): Outcome => {
    if (!mayThrowRefusal) return { value: carryOut() };
    mark.run();
    const before = changes.get();
    try {
      const value = carryOut();
      release.run();
      return { value };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Most calls are refused before they write: the state in memory is still true then, and reading it again would be expensive.
      const wrote = changes.get() !== before;
      undo.run();
      release.run();
      if (wrote) for (const part of pending) part.undo?.();
      return { error };
    }
  };

  const together = (calls: readonly Work[]): Outcome[] => {
    begin.run();
    try {
      noticeOthers();
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
   * Runs the calls in one transaction and returns an outcome for each. A call that throws a Refusal has no effect. When a call
   * fails otherwise, all are rolled back, and each is run again in a transaction of its own, so that a fault affects only the call
   * that caused it. While SQLite is busy or has no room, all calls are refused with `unavailable` instead. Throws only when the state
   * on the disk can't be known.
   */
  const run = (calls: readonly Work[]): Outcome[] => {
    try {
      return together(calls);
    } catch (error) {
      if (isUnknowable(error)) throw error;
      if (calls.length === 1 || isNotNow(error)) return calls.map(() => ({ error: asOutcome(error) }));
      return calls.flatMap((call) => run([call]));
    }
  };

  return {
    run,
    /** How long all COMMIT statements so far took, in milliseconds. */
    committedMilliseconds: (): number => committed,
    /** Runs work in a transaction of its own. Returns its value, or throws the error that `run` returns. */
    runAlone: <Value>(work: () => Value): Value =>
      resultOf(run([{ carryOut: work, mayThrowRefusal: false }])[0] as Outcome) as Value,
  };
};
export type Transactions = ReturnType<typeof createTransactions>;

/** After a failed write or sync the kernel may have dropped the pages: only a restart, which reads what is on the disk, is safe. */
const isUnknowable = (error: unknown) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(codeOf(error));

const asOutcome = (error: unknown) =>
  isNotNow(error)
    ? new Refusal('unavailable', { retryAfterSeconds: codeOf(error).startsWith('SQLITE_FULL') ? 5 : 1, cause: error })
    : error;
