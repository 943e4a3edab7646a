/**
 * The backups of one database, in a folder that may also have backups of other databases:
 *
 * - `firsthand-<key>-<time>.db`: a backup. The key identifies the database.
 * - `firsthand-<key>-<time>.db-erased`: its erasure record.
 * - `firsthand-<key>-lock`: the lock that a process holds while it makes a backup.
 *
 * Other files are never changed.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import { recordHeaderOf, recordPathOf } from '../erasure/erasure-record.ts';
import { openConnection } from './connection.ts';
import { tryLock } from './lock.ts';
import { createFolder } from './owner.ts';

interface ExistingBackup {
  readonly file: string;
  /** When the backup was started. */
  readonly time: number;
}

/**
 * Returns a database's key. The key stays the same after a restore; a copy under a different path has a different key.
 */
const keyOf = (path: string): string => {
  const db = openConnection(path, 'read');
  try {
    return createHash('sha256')
      .update(`${recordHeaderOf(db)}${path}`)
      .digest('hex')
      .slice(0, 12);
  } finally {
    db.close();
  }
};

const timePattern = '(\\d{4})(\\d{2})(\\d{2})T(\\d{2})(\\d{2})(\\d{2})(\\d{3})Z';

/** Whether a file is named like a backup of this or another database. */
export const isBackupName = (name: string): boolean =>
  new RegExp(`^firsthand-[\\da-f]{12}-${timePattern}\\.db$`).test(name);

const toTimeText = (time: number): string => new Date(time).toISOString().replace(/[-:.]/g, '');

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** `path` is the database's absolute path. */
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

  /** Lists this database's backups, newest first. */
  const list = (): ExistingBackup[] =>
    names()
      .flatMap((name) => {
        const [, year, month, day, hour, minute, second, millisecond] = backup.exec(name) ?? [];
        const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
        const file = join(folder, name);
        return Number.isNaN(time) || !isFile(file) ? [] : [{ file, time }];
      })
      .sort((a, b) => b.time - a.time);

  const lock = () => tryLock(join(folder, `firsthand-${key}`));

  const listDrafts = (): string[] => names().filter((name) => draft.test(name) && isFile(join(folder, name)));

  /** Call it while holding the lock, so that no process is writing a draft. */
  const removeUnlocked = (): void => {
    for (const name of listDrafts()) rmSync(join(folder, name), { force: true });
  };

  return {
    list,
    /** Creates the folder if necessary. Returns the path for a backup that starts at `time`. */
    pathAt: (time: number): string => {
      createFolder(folder);
      return join(folder, `firsthand-${key}-${toTimeText(time)}.db`);
    },
    /**
     * Takes the lock and removes the drafts that killed processes left. Returns a function that releases the lock.
     * Throws StoreUnusable while another process makes a backup.
     */
    begin: (): (() => void) => {
      const unlock = lock();
      if (!unlock)
        throw new StoreUnusable(`another process is backing up this database to ${folder}: wait until it finishes`);
      try {
        removeUnlocked();
        return unlock;
      } catch (error) {
        unlock();
        throw error;
      }
    },
    /** Removes the drafts that killed processes left. Does nothing while a process makes a backup. */
    removeDrafts: (): void => {
      if (listDrafts().length === 0) return;
      const unlock = lock();
      if (!unlock) return;
      try {
        removeUnlocked();
      } finally {
        unlock();
      }
    },
    /** Removes the oldest backups beyond `keep`, but never `newest`. Returns the number removed. */
    removeSurplus: (keep: number, newest: string): number => {
      const surplus = list()
        .filter(({ file }) => file !== newest)
        .slice(keep - 1);
      for (const { file } of surplus) for (const each of [file, recordPathOf(file)]) rmSync(each, { force: true });
      return surplus.length;
    },
  };
};
