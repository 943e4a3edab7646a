/**
 * Writes the write-ahead log back into the database between commits. SQLite's own checkpoints would run within a commit and delay
 * it, and would not report a failing disk (sqlite3_wal_autocheckpoint: errors are ignored).
 */
import { type Connection, couldNow, emptyLog } from '../database/connection.ts';

const mebibyte = 1024 * 1024;

/**
 * From this size on the log is written back. A larger backlog means less work in total, but a longer pause for the waiting commits.
 */
const backlogBytes = 16 * mebibyte;

/**
 * The first commit after a write-back restarts the log, if nobody reads at that moment (wal.c, walRestartLog). If somebody does,
 * the log is written back again after this many more bytes, for another such moment.
 */
const retryBytes = mebibyte;

/**
 * From this size on the log must restart, even if commits wait a moment for the readers of its end. Two commits and a pause may add
 * to it: it stays below 64 MiB.
 */
const maxBytes = 24 * mebibyte;

/**
 * The pause before the log is tried again; it doubles after each failed try. A step of a read ends soon, but while a backup reads,
 * each try delays events for nothing.
 */
const firstPauseMilliseconds = 20;
const longestPauseMilliseconds = 500;

export const createWriteAheadLog = (db: Connection) => {
  const pageBytes = db.pragma('page_size', { simple: true }) as number;
  /** True at the start: a previous server may have left erased data in the log. */
  let holdsErased = true;
  let nextTry = 0;
  let inVain = 0;

  const pause = () => {
    const milliseconds = Math.min(firstPauseMilliseconds * 2 ** inVain++, longestPauseMilliseconds);
    nextTry = performance.now() + milliseconds;
    return milliseconds;
  };

  const empty = (): boolean => {
    const isEmpty = emptyLog(db);
    if (isEmpty) inVain = 0;
    return isEmpty;
  };

  /**
   * `log` is the number of pages in the log, `checkpointed` how many of them are in the database too; both are -1 for a database in
   * memory.
   */
  const look = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)');

  const writeBack = (): number | null => {
    const { log, checkpointed } = look.get() as { log: number; checkpointed: number };
    if (log * pageBytes >= maxBytes) return empty() ? null : pause();
    if (log * pageBytes < backlogBytes || (log - checkpointed) * pageBytes < retryBytes) return null;
    return couldNow(() => Boolean(db.pragma('wal_checkpoint(PASSIVE)'))) ? null : pause();
  };

  return {
    /** Notes that the log may hold erased data until it is emptied. */
    holdsErased(): void {
      holdsErased = true;
      // An erasure doesn't wait for the pause of earlier tries.
      nextTry = 0;
      inVain = 0;
    },
    /** Whether the log may hold erased data. */
    mayHoldErased: (): boolean => holdsErased,
    /**
     * Does what is due. Returns the milliseconds to wait before the next call, or null when nothing is due. Throws when the disk
     * fails.
     */
    maintain(): number | null {
      const rest = nextTry - performance.now();
      if (rest > 0) return Math.ceil(rest);
      if (!holdsErased) return writeBack();
      holdsErased = !empty();
      return holdsErased ? pause() : null;
    },
  };
};
export type WriteAheadLog = ReturnType<typeof createWriteAheadLog>;
