/**
 * Replaces a database with a backup. Validates everything before it touches the database, then replaces it with one
 * rename: after a crash, the file is either the old database or the backup, in both cases with all erasures recorded.
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
  type ErasedIdentifier,
  findRecords,
  listErased,
  readRecord,
  recordHeaderOf,
  recordPathOf,
  toRecord,
} from '../erasure/erasure-record.ts';
import { applicationID, codeOf, openConnection } from './connection.ts';
import { syncDirectory } from './file.ts';
import { takeLock } from './lock.ts';
import { getNewestMigration } from './migrate.ts';
import { changeOwner, createFolder, findOwner, type Owner } from './owner.ts';
import { verifyBackup } from './verify.ts';

/** The draft's name is fixed, because the lock allows only one restore at a time. */
const draftOf = (path: string): string => `${path}-restoring`;

const previousOf = (path: string, time: Date): string =>
  `${path}-before-restore-${time.toISOString().replace(/[-:.]/g, '')}`;

const refuseBackup = (backup: string, path: string): void => {
  const backupFile = statSync(backup, { throwIfNoEntry: false });
  if (!backupFile?.isFile()) throw new StoreUnusable(`there is no file ${backup}`);
  const current = statSync(path, { throwIfNoEntry: false });
  if (current?.ino === backupFile.ino && current.dev === backupFile.dev) {
    throw new StoreUnusable(`${backup} is the database itself: give the path of a backup`);
  }
  if ((statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new StoreUnusable(
      `${backup}-wal exists, so ${backup} is a database in use or a partial copy: copy the database with firsthand backup`,
    );
  }
};

interface CurrentDatabase {
  /** The first line of the database's erasure record; undefined if the database is too damaged. */
  readonly head?: string;
  readonly erased: readonly ErasedIdentifier[];
}

/** Whether a file can't be read as a database. */
const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT|IOERR)/.test(codeOf(error));

/** Opens read-only, because opening for writing would change another program's database. */
const isForeign = (path: string): boolean => {
  const db = openConnection(path, 'read');
  try {
    return db.pragma('application_id', { simple: true }) !== applicationID;
  } finally {
    db.close();
  }
};

/**
 * Reads the current database's erasures and checkpoints its write-ahead log. Throws StoreUnusable if it belongs to
 * another program or is open.
 */
const closeCurrent = (path: string): CurrentDatabase => {
  if (!existsSync(path) || statSync(path).size === 0) return { erased: [] };
  try {
    if (isForeign(path)) throw new StoreUnusable(`${path} is another program's database, not Firsthand's`);
    const db = openConnection(path, 'write');
    try {
      const isCurrent = db.pragma('user_version', { simple: true }) === getNewestMigration();
      const current = { head: recordHeaderOf(db), erased: isCurrent ? listErased(db) : [] };
      // Fails while another connection is open. After this, the file alone is the complete database.
      db.pragma('journal_mode = DELETE');
      return current;
    } finally {
      db.close();
    }
  } catch (cause) {
    if (isDamage(cause)) return { erased: [] };
    if (cause instanceof StoreUnusable) throw cause;
    throw new StoreUnusable(
      `${path} cannot be replaced: ${(cause as Error).message} (does another program have it open?)`,
      {
        cause,
      },
    );
  }
};

/**
 * Yields the erasures in the current database, in its record, and in all its records next to the backup, because newer
 * backups may have later erasures. Holds one record in memory at a time.
 */
const listAllErased = function* (path: string, backup: string, { head, erased }: CurrentDatabase & { head: string }) {
  yield* erased;
  const recordsOfBackups = findRecords(dirname(backup), head);
  for (const each of new Set([recordPathOf(path), recordPathOf(backup), ...recordsOfBackups]))
    yield* readRecord(each, head);
};

/** Replaces the erasure record. The new record is valid for both the old database and the backup. */
const replaceRecord = async (path: string, text: string, owner: Owner | undefined): Promise<void> => {
  const draft = recordPathOf(draftOf(path));
  await writeFile(draft, text, { mode: 0o600, flush: true });
  changeOwner(draft, owner);
  renameSync(draft, recordPathOf(path));
  syncDirectory(dirname(path));
};

/** Links the current database to the name `previous`, and removes its log, which would be applied to the backup. */
const archiveCurrent = (path: string, previous: string): boolean => {
  // There is a log only if the database could not be closed.
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

/** Both paths are absolute. Throws StoreUnusable, and changes nothing, if the backup can't be restored. */
export const restoreDatabase = async (path: string, backup: string): Promise<Restored> => {
  refuseBackup(backup, path);
  createFolder(dirname(path));
  const owner = findOwner(path, dirname(path));
  const unlock = takeLock(path);
  const draft = draftOf(path);
  try {
    removeDrafts(path);
    await pipeline(createReadStream(backup), createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    const head = verifyBackup(draft, backup);
    const current = closeCurrent(path);
    if (current.head !== undefined && current.head !== head) {
      throw new StoreUnusable(
        `${backup} is a backup of another database than ${path}: move the database and ${recordPathOf(path)} away first`,
      );
    }
    const record = toRecord(head, listAllErased(path, backup, { ...current, head }));
    const erasedIdentifiers = record.split('\n').length - 2;
    if (erasedIdentifiers > 0) await replaceRecord(path, record, owner);
    changeOwner(draft, owner);
    const previous = previousOf(path, new Date());
    const isArchived = archiveCurrent(path, previous);
    renameSync(draft, path);
    syncDirectory(dirname(path));
    return {
      file: path,
      bytes: statSync(path).size,
      previous: isArchived ? previous : null,
      erasedIdentifiers,
      owner: owner?.uid ?? null,
    };
  } finally {
    removeDrafts(path);
    unlock();
  }
};
