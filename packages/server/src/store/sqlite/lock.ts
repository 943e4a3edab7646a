/** One server for a file. */

import { StoreUnusable } from '../unusable.ts';
import Database from './better-sqlite3.ts';
import { codeOf } from './connection.ts';

/** For as long somebody may hold the lock who only looks whether it can be had: `firsthand doctor`, another command. */
const patienceMilliseconds = 250;

const unlockable = (path: string, cause: unknown) =>
  new StoreUnusable(`${path}-lock cannot be locked: ${(cause as Error).message}`, { cause });

const openLock = (path: string) => {
  try {
    return new Database(`${path}-lock`, { timeout: patienceMilliseconds });
  } catch (cause) {
    throw unlockable(path, cause);
  }
};

/**
 * Takes the lock of the database at `path`, and answers how to let go of it, or undefined when another process has it.
 * The lock is a companion database that is held in an exclusive transaction: the operating system lets go of it however
 * the process ends, which no PID file can say.
 */
export const tryLock = (path: string): (() => void) | undefined => {
  const lock = openLock(path);
  try {
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (cause) {
    lock.close();
    if (codeOf(cause) === 'SQLITE_BUSY') return undefined;
    throw unlockable(path, cause);
  }
};

/** Takes the lock, or throws StoreUnusable when another server has it. */
export const takeLock = (path: string): (() => void) => {
  const unlock = tryLock(path);
  if (unlock) return unlock;
  throw new StoreUnusable(
    `${path} is being served already: one server for a file (stop it, or use another DATABASE_URL)`,
  );
};
