import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import { createAuditWriter } from '../accounts/audit.ts';
import { markBackup } from './backup-age.ts';
import { codeOf, isNotNow, openConnection } from './connection.ts';
import { syncDirectory } from './file.ts';
import { newestMigration } from './migrate.ts';

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

/**
 * Copies the database at `path`, as it is at this moment, to the new file `target`; a server may write meanwhile. The copy is
 * complete and synced before it gets its name. Throws when `target` exists.
 */
export const backupDatabase = (path: string, target: string): void => {
  if (existsSync(target)) throw new StoreUnusable(`${target} exists already: a backup never replaces a file`);
  recordBackup(path);
  const draft = `${target}.${process.pid}.new`;
  const db = openConnection(path, 'read');
  try {
    // VACUUM moves rows while it packs the copy. The bytes left behind would outlive an erasure by a server on the restored copy.
    db.pragma('secure_delete = ON');
    // One read transaction: db.backup() would start again with every commit of a busy server.
    db.prepare('VACUUM INTO ?').run(draft);
    const descriptor = openSync(draft, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
    linkSync(draft, target);
    syncDirectory(dirname(target));
    markBackup(path, target);
  } finally {
    db.close();
    rmSync(draft, { force: true });
  }
};
