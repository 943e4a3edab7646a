/** The database file: created completely or not at all, and accepted only when its header says that it is Firsthand's. */
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
import { refuseClosed } from './file-permissions.ts';
import { emptyDatabase } from './memory.ts';
import { refuseNewer } from './migrate.ts';
import { give, makeFolder, ownerAmong } from './owner.ts';

/**
 * Makes sure that a Firsthand database is at `path`; throws StoreUnusable when that fails. A new database is created under another
 * name and linked into place when it is complete. So a file of that name is never half written, and an empty file is never a
 * Firsthand database.
 */
export const ensureFile = (path: string): void => {
  if (existsSync(path)) {
    refuseClosed(path);
    refuseForeign(path);
    return;
  }
  try {
    makeFolder(dirname(path));
  } catch (cause) {
    throw new StoreUnusable(`${path} cannot be made: ${(cause as Error).message}`, { cause });
  }
  refuseClosed(path);
  const draft = `${path}.${process.pid}.new`;
  removeDraft(draft);
  try {
    writeFileSync(draft, emptyDatabase(), { mode: 0o600 });
    const db = new Database(draft);
    db.pragma('synchronous = EXTRA');
    // Gives the file its own secret. This commit also syncs the rest of the file.
    db.exec('UPDATE position SET secret = randomblob(32)');
    // Set now, while nobody else has the file open: two processes that change the mode at once can block each other.
    db.pragma('journal_mode = WAL');
    db.close();
    give(draft, ownerAmong(dirname(path)));
    linkSync(draft, path);
    syncDirectory(dirname(path));
  } catch (error) {
    // Another process that starts at the same moment may have created the file first: then that file is used, if it is a Firsthand
    // database.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new StoreUnusable(`${path} cannot be made: ${(error as Error).message}`, { cause: error });
    }
    refuseForeign(path);
  } finally {
    removeDraft(draft);
  }
};

/** Removes a draft with its journal, which would be rolled back into a later draft of the same name. */
const removeDraft = (draft: string): void => {
  const [folder, own] = [dirname(draft), basename(draft)];
  const names = readdirSync(folder).filter((name) => name === own || name.startsWith(`${own}-`));
  for (const name of names) rmSync(join(folder, name), { force: true });
};

/** Throws StoreUnusable unless the file is a Firsthand database that this version can read. `name` is its name in messages. */
export const refuseForeign = (path: string, name = path): void => {
  const file = statSync(path);
  if (file.isDirectory()) throw new StoreUnusable(`${name} is a folder: DATABASE_URL must name a file`);
  if (file.size === 0) {
    throw new StoreUnusable(`${name} is empty, which a Firsthand database never is: move it away, or restore a backup`);
  }
  const found = readHeader(path, name);
  if (found.applicationID !== applicationID) {
    throw new StoreUnusable(`${name} is another program's database, not Firsthand's`);
  }
  refuseNewer(found.schema, name);
};

/** Reads the header of the file without changing it, as opening it for writing would. */
const readHeader = (path: string, name: string) => {
  try {
    const db = new Database(path, { readonly: true, fileMustExist: true });
    try {
      const ask = (pragma: string) => db.pragma(pragma, { simple: true }) as number;
      return { applicationID: ask('application_id'), schema: ask('user_version') };
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

/** A new name is durable once its directory is synced (fsync(2)). */
export const syncDirectory = (directory: string): void => {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
