/** Locks that a process holds until it ends: one server for a file, one backup of a database in a folder. */
import { dirname } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import Database from './better-sqlite3.ts';
import { type Connection, codeOf } from './connection.ts';
import { give, ownerAmong } from './owner.ts';

/** How long to wait for a process that holds the lock only to test it: `firsthand doctor`, another command. */
export const lockPatienceMilliseconds = 250;

/**
 * Takes the lock `<path>-lock`. Returns a function that releases it, or undefined when another process has it. The lock
 * is a second database that is held in an exclusive transaction: the operating system releases it however the process ends, which a
 * PID file can't ensure.
 */
export const tryLock = (path: string, patienceMilliseconds = lockPatienceMilliseconds): (() => void) | undefined => {
  let lock: Connection | undefined;
  try {
    const file = `${path}-lock`;
    lock = new Database(file, { timeout: patienceMilliseconds });
    give(file, ownerAmong(file, path, dirname(path)));
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
    const taken = lock;
    return () => taken.close();
  } catch (cause) {
    lock?.close();
    if (codeOf(cause) === 'SQLITE_BUSY') return undefined;
    throw new StoreUnusable(`${path}-lock cannot be locked: ${(cause as Error).message}`, { cause });
  }
};

/** Takes the lock. Throws StoreUnusable when another server still has it after `patienceMilliseconds`. */
export const takeLock = (path: string, patienceMilliseconds?: number): (() => void) => {
  const unlock = tryLock(path, patienceMilliseconds);
  if (unlock) return unlock;
  throw new StoreUnusable(
    `${path} is being served already: one server for a file (stop it, or use another DATABASE_URL)`,
  );
};
