/**
 * The backups of one database in a folder that other databases may use too. A name says of which database a backup is and when it was
 * made: `firsthand-<key>-<time>.db`, and the record of erasures beside it `firsthand-<key>-<time>.db-erased`. No other file is touched.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { recordHeadOf, recordPathOf } from '../erasure/erasure-record.ts';
import { openConnection } from './connection.ts';

export interface MadeBackup {
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

const toTimeText = (time: number): string => new Date(time).toISOString().replace(/[-:.]/g, '');

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** `path` is that of the database, and absolute. */
export const openBackupFolder = (path: string, folder: string) => {
  const key = keyOf(path);
  const backup = new RegExp(`^firsthand-${key}-${timePattern}\\.db$`);
  const draft = new RegExp(`^firsthand-${key}-${timePattern}\\.db(?:-erased)?\\.(\\d+)\\.new$`);

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

  return {
    list,
    /** Makes the folder if there is none. Returns the path of a backup that is made at `time`. */
    pathAt: (time: number): string => {
      mkdirSync(folder, { recursive: true });
      return join(folder, `firsthand-${key}-${toTimeText(time)}.db`);
    },
    /** Removes what a process has left that was killed while it made a backup. */
    removeDraftsOf: (pid: number): void => {
      for (const name of names())
        if (draft.exec(name)?.[8] === String(pid)) rmSync(join(folder, name), { force: true });
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
export type BackupFolder = ReturnType<typeof openBackupFolder>;
