/**
 * Puts a backup in the place of a database. Everything that can fail for its content fails before the database is touched, and one
 * rename replaces it: after a crash the file is the old database or the backup, each with all erasures recorded.
 */
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Restored } from '../../restored.ts';
import { StoreUnusable } from '../../unusable.ts';
import {
  type Erased,
  findRecords,
  listErased,
  readRecord,
  recordHeadOf,
  recordPathOf,
  toRecord,
} from '../erasure/erasure-record.ts';
import { applicationID, codeOf, openConnection } from './connection.ts';
import { syncDirectory } from './file.ts';
import { takeLock } from './lock.ts';
import { newestMigration } from './migrate.ts';
import { give, makeFolder, type Owner, ownerAmong } from './owner.ts';
import { verifyBackup } from './verify.ts';

/** Files that a restore has not finished. One restore runs at a time, under the lock, so their names are fixed. */
const draftOf = (path: string): string => `${path}-restoring`;

const previousOf = (path: string, time: Date): string =>
  `${path}-before-restore-${time.toISOString().replace(/[-:.]/g, '')}`;

const refuseBackup = (backup: string, path: string): void => {
  const found = statSync(backup, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new StoreUnusable(`there is no file ${backup}`);
  const present = statSync(path, { throwIfNoEntry: false });
  if (present?.ino === found.ino && present.dev === found.dev) {
    throw new StoreUnusable(`${backup} is the database itself: give the path of a backup`);
  }
  if ((statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new StoreUnusable(
      `${backup}-wal exists, so ${backup} is a database in use or a part of one: make a copy of it with firsthand backup`,
    );
  }
};

interface Present {
  /** The first line of its record of erasures; undefined when the database is too damaged to say. */
  readonly head?: string;
  readonly erased: readonly Erased[];
}

/** Whether a file can't be read as a database. */
const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT|IOERR)/.test(codeOf(error));

/** Reads the header only: opening for writing would change another program's database. */
const isForeign = (path: string): boolean => {
  const db = openConnection(path, 'read');
  try {
    return db.pragma('application_id', { simple: true }) !== applicationID;
  } finally {
    db.close();
  }
};

/**
 * Reads what must outlast the present database, and brings its write-ahead log back into its file. Throws StoreUnusable when it is
 * another program's, or a program has it open.
 */
const closePresent = (path: string): Present => {
  if (!existsSync(path) || statSync(path).size === 0) return { erased: [] };
  try {
    if (isForeign(path)) throw new StoreUnusable(`${path} is another program's database, not Firsthand's`);
    const db = openConnection(path, 'write');
    try {
      const isCurrent = db.pragma('user_version', { simple: true }) === newestMigration();
      const present = { head: recordHeadOf(db), erased: isCurrent ? listErased(db) : [] };
      // Fails while another connection is open. Afterwards the file is the whole database.
      db.pragma('journal_mode = DELETE');
      return present;
    } finally {
      db.close();
    }
  } catch (cause) {
    if (isDamage(cause)) return { erased: [] };
    if (cause instanceof StoreUnusable) throw cause;
    throw new StoreUnusable(
      `${path} cannot be moved away: ${(cause as Error).message} (does a program have it open?)`,
      {
        cause,
      },
    );
  }
};

/**
 * All erasures that are known: to the present database, to its record, and to each record of this database beside the backup. The record
 * of a newer backup lists what was erased after this one. One record is in memory at a time.
 */
const allErased = function* (path: string, backup: string, { head, erased }: Present & { head: string }) {
  yield* erased;
  const beside = findRecords(dirname(backup), head);
  for (const each of new Set([recordPathOf(path), recordPathOf(backup), ...beside])) yield* readRecord(each, head);
};

/** Replaces the record of erasures. It belongs to the old database as much as to its backup. */
const replaceRecord = async (path: string, text: string, owner: Owner | undefined): Promise<void> => {
  const draft = recordPathOf(draftOf(path));
  await writeFile(draft, text, { mode: 0o600, flush: true });
  give(draft, owner);
  renameSync(draft, recordPathOf(path));
  syncDirectory(dirname(path));
};

/** Keeps the present database under the name `previous`, and takes away the log that would be read with the backup. */
const keepPresent = (path: string, previous: string): boolean => {
  // Of a database that could be closed only the file is left.
  for (const suffix of ['', '-wal'].filter((each) => existsSync(path + each))) {
    linkSync(path + suffix, previous + suffix);
    chmodSync(previous + suffix, 0o600);
  }
  syncDirectory(dirname(path));
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  syncDirectory(dirname(path));
  return existsSync(previous);
};

const removeDrafts = (path: string): void => {
  const draft = draftOf(path);
  for (const each of [draft, `${draft}-wal`, `${draft}-shm`, recordPathOf(draft)]) rmSync(each, { force: true });
};

/** Both paths are absolute. Throws StoreUnusable, and changes nothing, when the backup can't be restored there. */
export const restoreDatabase = async (path: string, backup: string): Promise<Restored> => {
  refuseBackup(backup, path);
  makeFolder(dirname(path));
  const owner = ownerAmong(path, dirname(path));
  const unlock = takeLock(path);
  const draft = draftOf(path);
  try {
    removeDrafts(path);
    await pipeline(createReadStream(backup), createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    const head = verifyBackup(draft, backup);
    const present = closePresent(path);
    if (present.head !== undefined && present.head !== head) {
      throw new StoreUnusable(
        `${path} is another database than the one that ${backup} is a backup of: move it and ${recordPathOf(path)} away first`,
      );
    }
    const record = toRecord(head, allErased(path, backup, { ...present, head }));
    const erasedIdentifiers = record.split('\n').length - 2;
    if (erasedIdentifiers > 0) await replaceRecord(path, record, owner);
    give(draft, owner);
    const previous = previousOf(path, new Date());
    const isKept = keepPresent(path, previous);
    renameSync(draft, path);
    syncDirectory(dirname(path));
    return {
      file: path,
      bytes: statSync(path).size,
      previous: isKept ? previous : null,
      erasedIdentifiers,
      owner: owner?.uid ?? null,
    };
  } finally {
    removeDrafts(path);
    unlock();
  }
};
