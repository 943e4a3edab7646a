import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { recordAudit } from '../../operations/audit.ts';
import type { FolderBackup } from '../../scheduled-backups.ts';
import { StoreUnusable } from '../../unusable.ts';
import { recordPathOf } from '../erasure/erasure-record.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { markBackup } from './backup-age.ts';
import { openBackupFolder } from './backup-folder.ts';
import { codeOf, isTransient, openConnection } from './connection.ts';
import { syncDirectory } from './file.ts';
import { getNewestMigration } from './migrate.ts';
import { changeOwner, findOwner } from './owner.ts';
import { verifyBackup } from './verify.ts';

/**
 * Records the backup in the audit log before it is made. If the database can't be written now, the backup is made
 * anyway.
 */
const recordBackup = (path: string): void => {
  try {
    const db = openConnection(path, 'write');
    try {
      if (db.pragma('user_version', { simple: true }) !== getNewestMigration()) return;
      createOperationRunner(db)(recordAudit({ action: 'backup', subject: {}, by: null, time: Date.now() }));
    } finally {
      db.close();
    }
  } catch (error) {
    if (!isTransient(error) && !/^SQLITE_(READONLY|CANTOPEN)/.test(codeOf(error))) throw error;
  }
};

/** Writes a consistent, synced copy of the database. A server can keep writing. */
const copyTo = (path: string, draft: string): void => {
  const db = openConnection(path, 'read');
  try {
    // Overwrites leftover bytes: VACUUM moves rows while it packs the copy, and without secure_delete, old copies of
    // these rows would survive an erasure on the restored copy.
    db.pragma('secure_delete = ON');
    // Copies in one read transaction, because db.backup() would restart at every commit on a busy server.
    db.prepare('VACUUM INTO ?').run(draft);
  } finally {
    db.close();
  }
  const descriptor = openSync(draft, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
};

/**
 * Copies the database at `path` to the new file `target`. The copy is complete and synced before it is renamed to
 * `target`. Calls `prepare` just before the renaming. Throws if `target` exists.
 */
export const backupDatabase = (path: string, target: string, prepare: (draft: string) => void = () => {}): void => {
  if (existsSync(target)) throw new StoreUnusable(`${target} already exists: a backup never replaces a file`);
  recordBackup(path);
  const draft = `${target}.${process.pid}.new`;
  try {
    copyTo(path, draft);
    prepare(draft);
    changeOwner(draft, findOwner(dirname(target)));
    linkSync(draft, target);
    syncDirectory(dirname(target));
    markBackup(path, target);
  } finally {
    rmSync(draft, { force: true });
  }
};

/** Copies the erasure record without an incomplete last line: that erasure is not acknowledged yet. */
const copyRecord = (path: string, target: string): void => {
  if (!existsSync(recordPathOf(path))) return;
  const text = readFileSync(recordPathOf(path), 'utf8');
  const draft = `${recordPathOf(target)}.${process.pid}.new`;
  try {
    writeFileSync(draft, text.slice(0, text.lastIndexOf('\n') + 1), { flag: 'wx', mode: 0o600, flush: true });
    changeOwner(draft, findOwner(dirname(target)));
    renameSync(draft, recordPathOf(target));
  } finally {
    rmSync(draft, { force: true });
  }
};

/** The free space that a backup leaves for the server, which may write to the same disk. */
const reservedBytes = 256 * 1024 * 1024;

/** Throws if the backup could fill the disk, which would stop a server that writes to it. */
const checkDiskSpace = (path: string, folder: string): void => {
  const size = [path, `${path}-wal`].reduce(
    (sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > size + reservedBytes) return;
  throw new StoreUnusable(
    `${folder} has too little space: a backup takes ${size} bytes, and ${reservedBytes} bytes must stay free`,
  );
};

/**
 * Writes a verified backup and its erasure record to `folder`, and removes the oldest backups beyond `keep`. Throws,
 * and leaves no files, on failure or while another process makes a backup of this database there.
 */
export const backupIntoFolder = (path: string, folder: string, keep: number): FolderBackup => {
  const backups = openBackupFolder(path, folder);
  const file = backups.pathAt(Date.now());
  const end = backups.begin();
  try {
    if (existsSync(file)) throw new StoreUnusable(`${file} already exists: a backup never replaces a file`);
    checkDiskSpace(path, folder);
    try {
      backupDatabase(path, file, (draft) => {
        verifyBackup(draft, file);
        copyRecord(path, file);
      });
    } catch (error) {
      rmSync(recordPathOf(file), { force: true });
      throw error;
    }
    return { file, bytes: statSync(file).size, removed: backups.removeSurplus(keep, file) };
  } finally {
    end();
  }
};
