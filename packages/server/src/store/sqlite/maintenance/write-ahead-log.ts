/**
 * Checkpoints the write-ahead log between commits. SQLite's automatic checkpoints would delay a commit, and they ignore
 * errors such as a failing disk (sqlite3_wal_autocheckpoint).
 */
import { type Connection, emptyLog, falseIfTransient } from '../database/connection.ts';

const mebibyte = 1024 * 1024;

/**
 * The size of the log at which a checkpoint runs. A larger backlog is less work in total, but delays waiting commits
 * for longer.
 */
const backlogBytes = 16 * mebibyte;

/**
 * The number of bytes after which a checkpoint is repeated if the log was not restarted. The first commit after a
 * checkpoint restarts the log unless a read is running (wal.c, walRestartLog).
 */
const retryBytes = mebibyte;

/**
 * The size at which the log must restart, even if commits have to wait for readers. Two commits and a pause can add to
 * the log, but it stays below 64 MiB.
 */
const maxBytes = 24 * mebibyte;

/**
 * The pause before a retry, which is doubled after each failure. Read steps end soon, but during a backup, each attempt
 * would delay events for nothing.
 */
const firstPauseMilliseconds = 20;
const maxPauseMilliseconds = 500;

export const createWriteAheadLog = (db: Connection) => {
  const pageBytes = db.pragma('page_size', { simple: true }) as number;
  /** Initially true: a previous server may have left erased data in the log. */
  let holdsErased = true;
  let nextAttempt = 0;
  let failedAttempts = 0;

  const pause = () => {
    const milliseconds = Math.min(firstPauseMilliseconds * 2 ** failedAttempts++, maxPauseMilliseconds);
    nextAttempt = performance.now() + milliseconds;
    return milliseconds;
  };

  const empty = (): boolean => {
    const isEmpty = emptyLog(db);
    if (isEmpty) failedAttempts = 0;
    return isEmpty;
  };

  /**
   * `log` is the number of pages in the log, and `checkpointed` the number of these pages that are also in the
   * database. Both are -1 for an in-memory database.
   */
  const readStatus = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)');

  const writeBack = (): number | null => {
    const { log, checkpointed } = readStatus.get() as { log: number; checkpointed: number };
    if (log * pageBytes >= maxBytes) return empty() ? null : pause();
    if (log * pageBytes < backlogBytes || (log - checkpointed) * pageBytes < retryBytes) return null;
    return falseIfTransient(() => Boolean(db.pragma('wal_checkpoint(PASSIVE)'))) ? null : pause();
  };

  return {
    /** Call it when erased data may be in the log, until the log is truncated. */
    holdsErased(): void {
      holdsErased = true;
      // Tries immediately: an erasure doesn't wait for the pause after a failed attempt.
      nextAttempt = 0;
      failedAttempts = 0;
    },
    mayHoldErased: (): boolean => holdsErased,
    /**
     * Runs a checkpoint if one is due. Returns the milliseconds to wait before the next call; null if nothing is due.
     * Throws if the disk fails.
     */
    maintain(): number | null {
      const rest = nextAttempt - performance.now();
      if (rest > 0) return Math.ceil(rest);
      if (!holdsErased) return writeBack();
      holdsErased = !empty();
      return holdsErased ? pause() : null;
    },
  };
};
export type WriteAheadLog = ReturnType<typeof createWriteAheadLog>;
