/**
 * The backups of one database in a folder that other databases may use too. A name says of which database a backup is and when it was
 * made: `firsthand-<key>-<time>.db`, and the record of erasures beside it `firsthand-<key>-<time>.db-erased`. Whoever makes one holds the
 * lock `firsthand-<key>-lock`. No other file is touched.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import { recordHeadOf, recordPathOf } from '../erasure/erasure-record.ts';
import { openConnection } from './connection.ts';
import { tryLock } from './lock.ts';
import { makeFolder } from './owner.ts';

interface MadeBackup {
  readonly file: string;
  /** When it was begun, in milliseconds since 1970. */
  readonly time: number;
}

/** The same for a database and for a restored backup of it in its place; another one for a copy of it elsewhere. */
const keyOf = (path: string): string => {
  const db = openConnection(path, 'read');
  try {
    return createHash('sha256')
      .update(`${recordHeadOf(db)}${path}`)
      .digest('hex')
      .slice(0, 12);
  } finally {
    db.close();
  }
};

const timePattern = '(\\d{4})(\\d{2})(\\d{2})T(\\d{2})(\\d{2})(\\d{2})(\\d{3})Z';

/** Whether a file in the folder is named like a backup, of this database or another one. */
export const isBackupName = (name: string): boolean =>
  new RegExp(`^firsthand-[\\da-f]{12}-${timePattern}\\.db$`).test(name);

const toTimeText = (time: number): string => new Date(time).toISOString().replace(/[-:.]/g, '');

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** `path` is that of the database, and absolute. */
export const openBackupFolder = (path: string, folder: string) => {
  const key = keyOf(path);
  const backup = new RegExp(`^firsthand-${key}-${timePattern}\\.db$`);
  const draft = new RegExp(`^firsthand-${key}-${timePattern}\\.db(?:-erased)?\\.\\d+\\.new$`);

  const names = (): string[] => {
    try {
      return readdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  };

  /** All backups of this database, the newest first. */
  const list = (): MadeBackup[] =>
    names()
      .flatMap((name) => {
        const [, year, month, day, hour, minute, second, millisecond] = backup.exec(name) ?? [];
        const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
        const file = join(folder, name);
        return Number.isNaN(time) || !isFile(file) ? [] : [{ file, time }];
      })
      .sort((one, other) => other.time - one.time);

  const lock = () => tryLock(join(folder, `firsthand-${key}`));

  const drafts = (): string[] => names().filter((name) => draft.test(name) && isFile(join(folder, name)));

  /** To be called under the lock: then no process writes a draft. */
  const removeAll = (): void => {
    for (const name of drafts()) rmSync(join(folder, name), { force: true });
  };

  return {
    list,
    /** Makes the folder if there is none. Returns the path of a backup that is made at `time`. */
    pathAt: (time: number): string => {
      makeFolder(folder);
      return join(folder, `firsthand-${key}-${toTimeText(time)}.db`);
    },
    /**
     * Lets this process alone make backups of this database, and removes the drafts of processes that were killed. Returns a function
     * that ends this. Throws StoreUnusable while another process makes one.
     */
    begin: (): (() => void) => {
      const unlock = lock();
      if (!unlock) throw new StoreUnusable(`another process makes a backup of this database in ${folder}: wait for it`);
      try {
        removeAll();
        return unlock;
      } catch (error) {
        unlock();
        throw error;
      }
    },
    /** Removes the drafts of processes that were killed; none while a process makes a backup. */
    removeDrafts: (): void => {
      if (drafts().length === 0) return;
      const unlock = lock();
      if (!unlock) return;
      try {
        removeAll();
      } finally {
        unlock();
      }
    },
    /** Removes the oldest backups beyond `keep`, but never `newest`. Returns how many. */
    removeSurplus: (keep: number, newest: string): number => {
      const surplus = list()
        .filter(({ file }) => file !== newest)
        .slice(keep - 1);
      for (const { file } of surplus) for (const each of [file, recordPathOf(file)]) rmSync(each, { force: true });
      return surplus.length;
    },
  };
};
