import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreUnusable } from '../unusable.ts';
import { createAuditWriter } from './audit.ts';
import { markBackup } from './backup-age.ts';
import { codeOf, isNotNow, openConnection } from './connection.ts';
import { syncDirectory } from './file.ts';
import { newestMigration } from './migrate.ts';

/** Records the backup in the database, before it is made; where that cannot be written to now, the backup is made all the same. */
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
 * Copies the database at `path` to the new file `target`, as it is at this moment; a server may go on writing meanwhile.
 * The copy is complete and synced when it gets its name. Throws when `target` exists.
 */
export const backupDatabase = (path: string, target: string): void => {
  if (existsSync(target)) throw new StoreUnusable(`${target} exists already: a backup never replaces a file`);
  recordBackup(path);
  const draft = `${target}.${process.pid}.new`;
  const db = openConnection(path, 'read');
  try {
    // The copy is packed with many moves: what they leave behind would outlive an erasure in a server that it is restored to.
    db.pragma('secure_delete = ON');
    // One read transaction: db.backup() would begin anew with every commit of a busy server.
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
