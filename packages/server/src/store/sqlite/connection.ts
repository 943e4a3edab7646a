/** Connections to a Firsthand database, each with the settings that our promises rest on. */

import type BetterSqlite3 from 'better-sqlite3';
import { StoreUnusable } from '../unusable.ts';
import Database from './better-sqlite3.ts';

export type Connection = BetterSqlite3.Database;

/** `FHnd`: what `PRAGMA application_id` says of a file that is ours. */
export const applicationID = 0x46486e64;

const cacheKiB = 32 * 1024;

/** How long a statement waits for another process, or another thread, to let go of the database. */
const patienceMilliseconds = 5_000;

/**
 * A connection that syncs before a commit returns. In WAL mode better-sqlite3's build falls back to NORMAL, which does
 * not (https://www.sqlite.org/wal.html#performance_considerations), so FULL is set on each connection, and asked back.
 * One that is to `serve` writes, and leaves it to write-ahead-log.ts when the log goes back into the database.
 */
export const openConnection = (path: string, mode: 'serve' | 'write' | 'read'): Connection => {
  const db = new Database(path, {
    readonly: mode === 'read',
    fileMustExist: path !== ':memory:',
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
      isLogged = path === ':memory:' || journal === 'wal';
      db.pragma('secure_delete = ON');
      db.pragma('journal_size_limit = 67108864');
      if (mode === 'serve') db.pragma('wal_autocheckpoint = 0');
    }
    // SQLite says nothing when it leaves a setting as it is.
    if (!isLogged || db.pragma('synchronous', { simple: true }) !== 2) {
      throw new StoreUnusable(`${path} cannot be put into WAL mode, or does not sync its commits`);
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Writes the write-ahead log back into the database and empties it: what was deleted is in no file after that. Answers
 * whether it could be done; a reader that is long about it, or a full disk, can prevent it.
 */
export const emptyLog = (db: Connection): boolean => {
  // Long enough for the steps of reads that are under way, and short for the events that wait meanwhile.
  db.pragma('busy_timeout = 100');
  try {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    return result?.busy === 0;
  } catch (error) {
    if (!isNotNow(error)) throw error;
    return false;
  } finally {
    db.pragma(`busy_timeout = ${patienceMilliseconds}`);
  }
};

/** The code of what SQLite has thrown, '' of anything else. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/**
 * Nothing is wrong with what was asked: there is no room, no descriptor for a file, or another process holds the database.
 * Of SQLite, or of the operating system, where a file beside the database is written.
 */
export const isNotNow = (error: unknown): boolean =>
  /^(SQLITE_(FULL|BUSY|LOCKED|NOMEM|CANTOPEN).*|ENOSPC|EDQUOT|EMFILE|ENFILE|ENOMEM)$/.test(codeOf(error));
