/** Opens, migrates, copies, backs up and examines the database at a URL. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OnProgress } from './database-export.ts';
import type { ExamineOptions, Finding } from './doctor-findings.ts';
import type { Distribution, DistributionOptions } from './postgres/database/citus.ts';
import type { Restored } from './restored.ts';
import type { Backups, FolderBackup, UpdateBackup } from './scheduled-backups.ts';
import type { Tuning } from './sqlite/tuning.ts';
import type { OnFault, Store } from './store.ts';
import { StoreUnusable } from './unusable.ts';

export interface StoreOptions {
  /** `sqlite:<path>`, `sqlite::memory:` or `postgres://…`. */
  readonly databaseURL: string;
  /**
   * `server`: stores events. `command`: manages accounts, tokens or refused requests, or only reads, possibly while a
   * server is running.
   */
  readonly role: 'server' | 'command';
  /** Whether a command creates a missing database. A server always does. */
  readonly create?: boolean;
  /** Where a server backs up a SQLite file before it changes the schema. */
  readonly updateBackup?: UpdateBackup | undefined;
  /** Called when the state on disk is unknown. The process must send no more responses and exit. */
  readonly onFatal: (error: Error) => void;
  /** Called when background work fails; not called again until the work has succeeded. The store retries the work. */
  readonly onFault?: OnFault | undefined;
  /** How SQLite groups events. PostgreSQL stores each event in its own row. */
  readonly tuning?: Tuning | undefined;
}

const isPostgres = (databaseURL: string): boolean => /^postgres(ql)?:/.test(databaseURL);

/** Returns the path in a `sqlite:` URL, unchanged. Throws StoreUnusable for any other URL. */
const fileOf = (databaseURL: string): string => {
  const sqlite = /^sqlite:(.+)$/.exec(databaseURL)?.[1];
  if (sqlite !== undefined) return sqlite;
  throw new StoreUnusable(`DATABASE_URL must be sqlite:<path> or postgres://…, not ${databaseURL.split(':')[0]}:`);
};

/** Returns the absolute path of the URL's SQLite file if it does not exist yet; otherwise undefined. */
export const findMissingFile = (databaseURL: string): string | undefined => {
  if (isPostgres(databaseURL) || databaseURL === 'sqlite::memory:') return undefined;
  const path = resolve(fileOf(databaseURL));
  return existsSync(path) ? undefined : path;
};

/** Opens the database at the URL. Throws StoreUnusable if it cannot be served. */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { databaseURL, role, create = false, onFatal, onFault, tuning, updateBackup } = options;
  if (isPostgres(databaseURL)) {
    const { openPostgres } = await import('./postgres/store.ts');
    return openPostgres(databaseURL, { role, create, onFault });
  }
  const sqlite = fileOf(databaseURL);
  const { openForCommand, openForServer, openMemoryStore } = await import('./sqlite/store.ts');
  if (sqlite === ':memory:') return openMemoryStore(tuning);
  const path = resolve(sqlite);
  return role === 'command'
    ? openForCommand(path, { create, tuning })
    : openForServer({ path, tuning }, onFatal, updateBackup);
};

/**
 * Migrates a PostgreSQL database to this program's schema, as a server does at start. With `citus`, also distributes
 * the tables over the cluster and returns what it distributed. Throws StoreUnusable on failure.
 */
export const migrateStore = async (
  databaseURL: string,
  options: { readonly citus: boolean } & DistributionOptions,
): Promise<Distribution | undefined> => {
  if (!isPostgres(databaseURL)) {
    throw new StoreUnusable('a SQLite file is migrated when a server opens it: start the server');
  }
  const { migrateDatabase } = await import('./postgres/database/citus.ts');
  return migrateDatabase(databaseURL, options);
};

/**
 * Copies a SQLite file into an empty PostgreSQL database, resuming an interrupted copy, or a PostgreSQL database into a
 * new SQLite file. No server may use the source during the copy. Throws StoreUnusable on failure.
 */
export const copyStore = async ({
  from,
  to,
  onProgress,
}: {
  from: string;
  to: string;
  onProgress: OnProgress;
}): Promise<void> => {
  if (isPostgres(from) === isPostgres(to)) {
    throw new StoreUnusable('one database must be sqlite:<file> and the other postgres://…');
  }
  const [{ openExport }, { copyInto }] = isPostgres(from)
    ? await Promise.all([import('./postgres/copy/export.ts'), import('./sqlite/copy/copy.ts')])
    : await Promise.all([import('./sqlite/copy/export.ts'), import('./postgres/copy/copy.ts')]);
  const toLocation = (databaseURL: string) => (isPostgres(databaseURL) ? databaseURL : resolve(fileOf(databaseURL)));
  const exported = await openExport(toLocation(from));
  try {
    await copyInto(toLocation(to), exported, onProgress);
  } finally {
    await exported.close();
  }
};

const pathToBackUp = (databaseURL: string): string => {
  if (isPostgres(databaseURL))
    throw new StoreUnusable('back up a PostgreSQL database with its own tools: pg_dump, pg_basebackup');
  return resolve(fileOf(databaseURL));
};

/**
 * Writes a consistent copy of a SQLite database to the new file `target`. A server can keep writing. The copy is
 * complete and synced before it is renamed to `target`. Throws StoreUnusable if `target` exists.
 */
export const backupStore = async (databaseURL: string, target: string): Promise<void> => {
  const path = pathToBackUp(databaseURL);
  const { backupDatabase } = await import('./sqlite/database/backup.ts');
  backupDatabase(path, target);
};

/**
 * Writes a verified backup, with its erasure record, to a folder, and removes this database's oldest backups there
 * beyond `keep`. Throws on failure and leaves no files.
 */
export const backupStoreInto = async (databaseURL: string, folder: string, keep: number): Promise<FolderBackup> => {
  const path = pathToBackUp(databaseURL);
  const { backupIntoFolder } = await import('./sqlite/database/backup.ts');
  return backupIntoFolder(path, resolve(folder), keep);
};

/**
 * Opens the folder of backups that `backupStoreInto` writes. Throws StoreUnusable for a database that is not a file.
 */
export const openBackups = async (databaseURL: string, folder: string): Promise<Backups> => {
  const path = pathToBackUp(databaseURL);
  const { openBackupFolder } = await import('./sqlite/database/backup-folder.ts');
  return openBackupFolder(path, resolve(folder));
};

/**
 * Replaces a SQLite database, which no server may have open, with `backup`. Keeps the replaced database next to it.
 * Throws StoreUnusable, and changes nothing, if the backup is damaged or belongs to another database.
 */
export const restoreStore = async (databaseURL: string, backup: string): Promise<Restored> => {
  if (isPostgres(databaseURL)) throw new StoreUnusable('restore a PostgreSQL database with its own tools: pg_restore');
  const { restoreDatabase } = await import('./sqlite/database/restore.ts');
  return restoreDatabase(resolve(fileOf(databaseURL)), resolve(backup));
};

/** Examines a database for `firsthand doctor`. Read-only. */
export const examineStore = async (databaseURL: string, options: ExamineOptions = {}): Promise<Finding[]> => {
  if (isPostgres(databaseURL))
    return (await import('./postgres/doctor/doctor.ts')).examineDatabase(databaseURL, options);
  const { examineDatabase } = await import('./sqlite/database/doctor.ts');
  return examineDatabase(fileOf(databaseURL), options);
};
