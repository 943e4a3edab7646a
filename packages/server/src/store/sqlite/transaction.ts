/** The one place that begins and commits. */
import { Refusal } from '../../refusal.ts';
import { type Connection, codeOf, isNotNow } from './connection.ts';

/** Something held in memory beside the rows. */
export interface Pending {
  /** Writes it, before a commit. Within a call only where nothing refuses that any more: undone, it would be in neither place. */
  flush?(): void;
  /** The transaction was rolled back: what is held may be of rows that are not there. */
  forget(): void;
  /** One call of the transaction was rolled back, and the others stand. */
  undo?(): void;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A call of a transaction. */
export interface Work {
  readonly carryOut: () => unknown;
  /** Whether it throws a Refusal when it is refused. What only answers that it was needs no savepoint. */
  readonly mayThrowRefusal: boolean;
}

export interface Transactions {
  /**
   * Carries out the calls in one transaction and answers an outcome for each. A call that throws a Refusal has no
   * effect. When one fails otherwise, all are rolled back and each is tried in a transaction of its own, so that a fault
   * stays with the call that has it. Throws only when it cannot be known what is on the disk.
   */
  run(calls: readonly Work[]): Outcome[];
}

export const createTransactions = (
  db: Connection,
  pending: readonly Pending[],
  noticeOthers: () => void,
): Transactions => {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const mark = db.prepare('SAVEPOINT call');
  const release = db.prepare('RELEASE call');
  const undo = db.prepare('ROLLBACK TO call');
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck();

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
      // Most are refused before they write: then what is held in memory is still true, and dear to read again.
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
      commit.run();
      return outcomes;
    } catch (error) {
      if (db.inTransaction) rollback.run();
      for (const part of pending) part.forget();
      throw error;
    }
  };

  return {
    run(calls) {
      try {
        return together(calls);
      } catch (error) {
        if (isUnknowable(error)) throw error;
        if (calls.length === 1 || isNotNow(error)) return calls.map(() => ({ error: asOutcome(error) }));
        return calls.map((call) => {
          try {
            return together([call])[0] as Outcome;
          } catch (fault) {
            if (isUnknowable(fault)) throw fault;
            return { error: asOutcome(fault) };
          }
        });
      }
    },
  };
};

/** After a failed write or sync the kernel may have dropped the pages: only a restart, from what is on the disk, is honest. */
const isUnknowable = (error: unknown) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(codeOf(error));

const asOutcome = (error: unknown) =>
  isNotNow(error)
    ? new Refusal('not_kept', { retryAfterSeconds: codeOf(error).startsWith('SQLITE_FULL') ? 5 : 1, cause: error })
    : error;
