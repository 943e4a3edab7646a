/** One server for a file. */
import Database from 'better-sqlite3';
import { StoreUnusable } from '../unusable.ts';
import { codeOf } from './connection.ts';

/**
 * Takes the lock of the database at `path`, and answers how to let go of it; throws StoreUnusable when another server
 * has it. The lock is a companion database that is held in an exclusive transaction: the operating system lets go of it
 * however the process ends, which no PID file can say.
 */
export const takeLock = (path: string): (() => void) => {
  const lock = new Database(`${path}-lock`, { timeout: 0 });
  try {
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if (codeOf(cause) !== 'SQLITE_BUSY') {
      throw new StoreUnusable(`${path}-lock cannot be locked: ${(cause as Error).message}`, { cause });
    }
    throw new StoreUnusable(
      `${path} is being served already: one server for a file (stop it, or use another DATABASE_URL)`,
    );
  }
  return () => lock.close();
};
