/** Connections to a Firsthand database, with the settings on which durability and erasure depend. */

import type BetterSqlite3 from 'better-sqlite3';
import { StoreUnusable } from '../../unusable.ts';
import Database from './better-sqlite3.ts';

export type Connection = BetterSqlite3.Database;

/** `FHnd`: the `PRAGMA application_id` of a Firsthand database. */
export const applicationID = 0x46486e64;

const cacheKiB = 32 * 1024;

/** How long a statement waits for a lock that another process or thread holds. */
const busyTimeoutMilliseconds = 5_000;

/**
 * Opens a connection that syncs before a commit returns. better-sqlite3 defaults to NORMAL in WAL mode, which does not
 * sync (https://www.sqlite.org/wal.html#performance_considerations), so FULL is set and verified.
 *
 * With mode `serve`, the connection writes, and write-ahead-log.ts makes the checkpoints. Bytes instead of a path are
 * opened as an in-memory database.
 */
export const openConnection = (path: string | Buffer, mode: 'serve' | 'write' | 'read'): Connection => {
  const isInMemory = path === ':memory:' || typeof path !== 'string';
  const db = new Database(path, {
    readonly: mode === 'read',
    fileMustExist: !isInMemory,
    timeout: busyTimeoutMilliseconds,
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
    // Checks the settings, because SQLite ignores a setting that it cannot apply, without an error.
    if (!isLogged || db.pragma('synchronous', { simple: true }) !== 2) {
      throw new StoreUnusable(
        `${isInMemory ? 'a database in memory' : path} cannot be switched to WAL mode, or does not sync its commits`,
      );
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Checkpoints and truncates the write-ahead log, so that no deleted data stays in it. Returns false if a long read or a
 * full disk prevents it.
 */
export const emptyLog = (db: Connection): boolean => {
  // Waits long enough for read steps to finish, but not so long that waiting events are noticeably delayed.
  db.pragma('busy_timeout = 100');
  try {
    return falseIfTransient(() => {
      const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      return result?.busy === 0;
    });
  } finally {
    db.pragma(`busy_timeout = ${busyTimeoutMilliseconds}`);
  }
};

/** Returns the code of an error; '' if the error has no code. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/**
 * Whether an error is temporary and not caused by the request: no disk space, memory or file descriptors, or a locked
 * database. Covers SQLite errors, and operating system errors for other files.
 */
export const isTransient = (error: unknown): boolean =>
  /^(SQLITE_(FULL|BUSY|LOCKED|NOMEM|CANTOPEN).*|ENOSPC|EDQUOT|EMFILE|ENFILE|ENOMEM)$/.test(codeOf(error));

/** Returns the result of the work; false if it throws a transient error. Rethrows other errors. */
export const falseIfTransient = (work: () => boolean): boolean => {
  try {
    return work();
  } catch (error) {
    if (isTransient(error)) return false;
    throw error;
  }
};
