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
import type { FolderBackup } from '../../scheduled-backups.ts';
import { StoreUnusable } from '../../unusable.ts';
import { createAuditWriter } from '../accounts/audit.ts';
import { recordPathOf } from '../erasure/erasure-record.ts';
import { markBackup } from './backup-age.ts';
import { openBackupFolder } from './backup-folder.ts';
import { codeOf, isNotNow, openConnection } from './connection.ts';
import { syncDirectory } from './file.ts';
import { newestMigration } from './migrate.ts';
import { give, ownerAmong } from './owner.ts';
import { verifyBackup } from './verify.ts';

/** Records the backup in the audit log before it is made. A database that can't be written to now is backed up all the same. */
const recordBackup = (path: string): void => {
  try {
    const db = openConnection(path, 'write');
    try {
      if (db.pragma('user_version', { simple: true }) !== newestMigration()) return;
      createAuditWriter(db).recordAudit({ action: 'backup', subject: {}, by: null, time: Date.now() });
    } finally {
      db.close();
    }
  } catch (error) {
    if (!isNotNow(error) && !/^SQLITE_(READONLY|CANTOPEN)/.test(codeOf(error))) throw error;
  }
};

/** Writes a synced copy of the database, as it is at this moment. A server may write meanwhile. */
const copyTo = (path: string, draft: string): void => {
  const db = openConnection(path, 'read');
  try {
    // VACUUM moves rows while it packs the copy. The bytes left behind would outlive an erasure by a server on the restored copy.
    db.pragma('secure_delete = ON');
    // One read transaction: db.backup() would start again with every commit of a busy server.
    db.prepare('VACUUM INTO ?').run(draft);
  } finally {
    db.close();
  }
  const descriptor = openSync(draft, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
};

/**
 * Copies the database at `path` to the new file `target`. The copy is complete and synced before it gets its name; `prepare` is called
 * before that. Throws when `target` exists.
 */
export const backupDatabase = (path: string, target: string, prepare: (draft: string) => void = () => {}): void => {
  if (existsSync(target)) throw new StoreUnusable(`${target} exists already: a backup never replaces a file`);
  recordBackup(path);
  const draft = `${target}.${process.pid}.new`;
  try {
    copyTo(path, draft);
    prepare(draft);
    give(draft, ownerAmong(dirname(target)));
    linkSync(draft, target);
    syncDirectory(dirname(target));
    markBackup(path, target);
  } finally {
    rmSync(draft, { force: true });
  }
};

/** Copies the record of erasures, but for a line that is being written: that erasure is not acknowledged yet. */
const copyRecord = (path: string, target: string): void => {
  if (!existsSync(recordPathOf(path))) return;
  const text = readFileSync(recordPathOf(path), 'utf8');
  const draft = `${recordPathOf(target)}.${process.pid}.new`;
  try {
    writeFileSync(draft, text.slice(0, text.lastIndexOf('\n') + 1), { flag: 'wx', mode: 0o600, flush: true });
    give(draft, ownerAmong(dirname(target)));
    renameSync(draft, recordPathOf(target));
  } finally {
    rmSync(draft, { force: true });
  }
};

/** Left free for the server, which may write to the same disk. */
const reservedBytes = 256 * 1024 * 1024;

/** Throws before a backup could fill the disk, on which a server would then store nothing. */
const refuseWithoutRoom = (path: string, folder: string): void => {
  const size = [path, `${path}-wal`].reduce(
    (sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > size + reservedBytes) return;
  throw new StoreUnusable(
    `${folder} has too little room: a backup takes ${size} bytes, and ${reservedBytes} must stay free`,
  );
};

/**
 * Makes a backup in `folder`: copies the database, reads the whole copy to verify it, puts the record of erasures beside it, names it,
 * and removes the oldest beyond `keep`. Throws, and leaves nothing, when one of these fails, or another process makes a backup of this
 * database there.
 */
export const backupIntoFolder = (path: string, folder: string, keep: number): FolderBackup => {
  const backups = openBackupFolder(path, folder);
  const file = backups.pathAt(Date.now());
  const end = backups.begin();
  try {
    if (existsSync(file)) throw new StoreUnusable(`${file} exists already: a backup never replaces a file`);
    refuseWithoutRoom(path, folder);
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
