/** Locks that a process holds until it exits: one server per file, one backup per database and folder. */
import { dirname } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import Database from './better-sqlite3.ts';
import { type Connection, codeOf } from './connection.ts';
import { changeOwner, findOwner } from './owner.ts';

/** How long to wait for a process that takes the lock only to test it, such as `firsthand doctor`. */
export const lockTimeoutMilliseconds = 250;

/**
 * Takes the lock `<path>-lock`. Returns a function that releases it; undefined if another process has it. The lock is
 * an exclusive transaction in a second database. Unlike a PID file, the operating system releases it when the process
 * dies.
 */
export const tryLock = (path: string, timeoutMilliseconds = lockTimeoutMilliseconds): (() => void) | undefined => {
  let lock: Connection | undefined;
  try {
    const file = `${path}-lock`;
    lock = new Database(file, { timeout: timeoutMilliseconds });
    changeOwner(file, findOwner(file, path, dirname(path)));
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
    const held = lock;
    return () => held.close();
  } catch (cause) {
    lock?.close();
    if (codeOf(cause) === 'SQLITE_BUSY') return undefined;
    throw new StoreUnusable(`${path}-lock cannot be locked: ${(cause as Error).message}`, { cause });
  }
};

/** Takes the lock. Throws StoreUnusable if another server still holds it after `timeoutMilliseconds`. */
export const takeLock = (path: string, timeoutMilliseconds?: number): (() => void) => {
  const unlock = tryLock(path, timeoutMilliseconds);
  if (unlock) return unlock;
  throw new StoreUnusable(
    `${path} is being served already: only one server may use a file (stop it, or use another DATABASE_URL)`,
  );
};
