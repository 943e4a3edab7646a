/** Connections to a Firsthand database, with the settings that durability and erasure depend on. */

import type BetterSqlite3 from 'better-sqlite3';
import { StoreUnusable } from '../../unusable.ts';
import Database from './better-sqlite3.ts';

export type Connection = BetterSqlite3.Database;

/** `FHnd`: the `PRAGMA application_id` of a Firsthand database. */
export const applicationID = 0x46486e64;

const cacheKiB = 32 * 1024;

/** How long a statement waits while another process or thread has the database locked. */
const patienceMilliseconds = 5_000;

/**
 * Opens a connection that syncs before a commit returns. In WAL mode better-sqlite3's build falls back to NORMAL, which does not
 * (https://www.sqlite.org/wal.html#performance_considerations), so FULL is set on each connection and read back. Mode `serve`
 * writes, and leaves checkpoints to write-ahead-log.ts. The bytes of a database in the place of a path are copied into memory.
 */
export const openConnection = (path: string | Buffer, mode: 'serve' | 'write' | 'read'): Connection => {
  const isInMemory = path === ':memory:' || typeof path !== 'string';
  const db = new Database(path, {
    readonly: mode === 'read',
    fileMustExist: !isInMemory,
    timeout: patienceMilliseconds,
  });
  try {
    db.pragma('synchronous = FULL');
    db.pragma(`cache_size = -${cacheKiB}`);
    db.pragma('temp_store = MEMORY');
    db.pragma('foreign_keys = ON');
    let isLogged = true;
    if (mode !== 'read') {
      const journal = db.pragma('journal_mode = WAL', { simple: true });
      isLogged = isInMemory || journal === 'wal';
      db.pragma('secure_delete = ON');
      db.pragma('journal_size_limit = 67108864');
      if (mode === 'serve') db.pragma('wal_autocheckpoint = 0');
    }
    // SQLite reports nothing when it leaves a setting unchanged.
    if (!isLogged || db.pragma('synchronous', { simple: true }) !== 2) {
      throw new StoreUnusable(
        `${isInMemory ? 'a database in memory' : path} cannot be put into WAL mode, or does not sync its commits`,
      );
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Writes the write-ahead log back into the database and empties it, so that it holds no deleted data. Returns whether it could be
 * done: a long read or a full disk can prevent it.
 */
export const emptyLog = (db: Connection): boolean => {
  // Long enough for the current steps of reads, and short for the events that wait meanwhile.
  db.pragma('busy_timeout = 100');
  try {
    return couldNow(() => {
      const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      return result?.busy === 0;
    });
  } finally {
    db.pragma(`busy_timeout = ${patienceMilliseconds}`);
  }
};

/** The code of an error, '' when it has none. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/**
 * Whether an error is temporary and not the fault of the request: no room, no memory, no file descriptor, or another process has
 * the database locked. Covers errors of SQLite, and of the operating system for files beside the database.
 */
export const isNotNow = (error: unknown): boolean =>
  /^(SQLITE_(FULL|BUSY|LOCKED|NOMEM|CANTOPEN).*|ENOSPC|EDQUOT|EMFILE|ENFILE|ENOMEM)$/.test(codeOf(error));

/** Returns the result of the work, or false when it throws an error that is temporary (`isNotNow`). Throws other errors. */
export const couldNow = (work: () => boolean): boolean => {
  try {
    return work();
  } catch (error) {
    if (isNotNow(error)) return false;
    throw error;
  }
};
