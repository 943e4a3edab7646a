/** The database file. It is created atomically, and accepted only if it has Firsthand's header. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import Database from './better-sqlite3.ts';
import { applicationID } from './connection.ts';
import { refuseInaccessible } from './file-permissions.ts';
import { getEmptyDatabase } from './memory.ts';
import { refuseNewerSchema } from './migrate.ts';
import { changeOwner, createFolder, findOwner } from './owner.ts';

/**
 * Ensures that there is a Firsthand database at `path`. Throws StoreUnusable on failure. A new database is linked into
 * place only when it is complete, so a partial or empty file is never a Firsthand database.
 */
export const ensureFile = (path: string): void => {
  if (existsSync(path)) {
    refuseInaccessible(path);
    refuseForeign(path);
    return;
  }
  try {
    createFolder(dirname(path));
  } catch (cause) {
    throw new StoreUnusable(`${path} cannot be created: ${(cause as Error).message}`, { cause });
  }
  refuseInaccessible(path);
  const draft = `${path}.${process.pid}.new`;
  removeDraft(draft);
  try {
    writeFileSync(draft, getEmptyDatabase(), { mode: 0o600 });
    const db = new Database(draft);
    db.pragma('synchronous = EXTRA');
    // Gives each file its own secret. This commit also syncs the rest of the file.
    db.exec('UPDATE position SET secret = randomblob(32)');
    // Sets the mode before another process can open the file: two processes that change the mode at the same time can
    // block each other.
    db.pragma('journal_mode = WAL');
    db.close();
    changeOwner(draft, findOwner(dirname(path)));
    linkSync(draft, path);
    syncDirectory(dirname(path));
  } catch (error) {
    // Another process may have created the file in the meantime. If it is a Firsthand database, that file is used.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new StoreUnusable(`${path} cannot be created: ${(error as Error).message}`, { cause: error });
    }
    refuseForeign(path);
  } finally {
    removeDraft(draft);
  }
};

/** Removes a draft and its journal, which SQLite would roll back into a later draft of the same name. */
const removeDraft = (draft: string): void => {
  const [folder, draftName] = [dirname(draft), basename(draft)];
  const names = readdirSync(folder).filter((name) => name === draftName || name.startsWith(`${draftName}-`));
  for (const name of names) rmSync(join(folder, name), { force: true });
};

/**
 * Throws StoreUnusable unless the file is a Firsthand database that this version can read. `name` is the file's name in
 * messages.
 */
export const refuseForeign = (path: string, name = path): void => {
  const file = statSync(path);
  if (file.isDirectory()) throw new StoreUnusable(`${name} is a folder: DATABASE_URL must point to a file`);
  if (file.size === 0) {
    throw new StoreUnusable(`${name} is empty, so it is not a Firsthand database: move it away, or restore a backup`);
  }
  const header = readHeader(path, name);
  if (header.applicationID !== applicationID) {
    throw new StoreUnusable(`${name} is another program's database, not Firsthand's`);
  }
  refuseNewerSchema(header.schema, name);
};

/** Reads the header read-only: opening the file for writing would change it. */
const readHeader = (path: string, name: string) => {
  try {
    const db = new Database(path, { readonly: true, fileMustExist: true });
    try {
      const readPragma = (pragma: string) => db.pragma(pragma, { simple: true }) as number;
      return { applicationID: readPragma('application_id'), schema: readPragma('user_version') };
    } finally {
      db.close();
    }
  } catch (cause) {
    throw new StoreUnusable(
      `${name} cannot be read as a database: ${(cause as Error).message} (is it damaged, its folder read-only, or the disk full?)`,
      { cause },
    );
  }
};

/** Syncs a directory, which makes new names in it durable (fsync(2)). */
export const syncDirectory = (directory: string): void => {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
