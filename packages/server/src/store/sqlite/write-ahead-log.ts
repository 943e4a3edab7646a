/**
 * The write-ahead log, written back into the database between commits. SQLite's own checkpoints would run within a
 * commit, which then takes their time, and would say nothing of a disk that fails meanwhile (sqlite3_wal_autocheckpoint:
 * errors are ignored).
 */
import { type Connection, emptyLog, isNotNow } from './connection.ts';

const mebibyte = 1024 * 1024;

/** From here on the log is written back: more at a time is less work, and a longer pause for the commits that wait. */
const backlogBytes = 16 * mebibyte;

/**
 * The log begins anew with the first commit after it was written back, if nobody reads at that moment (wal.c, walRestartLog). If
 * somebody does, what came since is written back for another such moment, whenever it is so much.
 */
const retryBytes = mebibyte;

/**
 * From here on the log must begin anew, even if commits wait a moment for the readers of its end. What two commits and a pause
 * add comes on top: it stays below 64 MiB.
 */
const mostBytes = 24 * mebibyte;

/**
 * Until the log is tried again, twice as long after each try in vain: a step of a read is over soon, but while a backup
 * reads, each try holds events up for nothing.
 */
const firstPauseMilliseconds = 20;
const longestPauseMilliseconds = 500;

export interface WriteAheadLog {
  /** From now on the log may hold what was erased, until it is emptied. */
  holdsErased(): void;
  /** Whether it may still. */
  mayHoldErased(): boolean;
  /** Does what is due; answers after how many milliseconds to come again, or null. Throws when the disk fails. */
  tidy(): number | null;
}

export const createWriteAheadLog = (db: Connection): WriteAheadLog => {
  const pageBytes = db.pragma('page_size', { simple: true }) as number;
  /** At the start, for all we know. */
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

  /** `log` pages are in it, of which `checkpointed` are in the database as well; -1 in memory. */
  const look = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)');

  const writeBack = (): number | null => {
    const { log, checkpointed } = look.get() as { log: number; checkpointed: number };
    if (log * pageBytes >= mostBytes) return empty() ? null : pause();
    if (log * pageBytes < backlogBytes || (log - checkpointed) * pageBytes < retryBytes) return null;
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
      return null;
    } catch (error) {
      if (!isNotNow(error)) throw error;
      return pause();
    }
  };

  return {
    holdsErased() {
      holdsErased = true;
      // An erasure doesn't wait for what was tried before it.
      nextTry = 0;
      inVain = 0;
    },
    mayHoldErased: () => holdsErased,
    tidy() {
      const rest = nextTry - performance.now();
      if (rest > 0) return Math.ceil(rest);
      if (!holdsErased) return writeBack();
      holdsErased = !empty();
      return holdsErased ? pause() : null;
    },
  };
};
