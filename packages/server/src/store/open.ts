/** Opens, migrates, copies, backs up and examines the database that a URL names. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Tell } from './database-export.ts';
import type { ExamineOptions, Finding } from './doctor-findings.ts';
import type { Spread, SpreadOptions } from './postgres/database/citus.ts';
import type { Restored } from './restored.ts';
import type { Backups, FolderBackup, UpdateBackup } from './scheduled-backups.ts';
import type { Arrangement } from './sqlite/arrangement.ts';
import type { OnFault, Store } from './store.ts';
import { StoreUnusable } from './unusable.ts';

export interface StoreOptions {
  /** `sqlite:<path>`, `sqlite::memory:` for a database that ends with the process, or `postgres://…`. */
  readonly databaseURL: string;
  /** `server`: stores events. `beside`: a command that runs beside a server, for accounts, tokens, refused requests and reads. */
  readonly role: 'server' | 'beside';
  /** Whether a command creates a missing database; a server always does. */
  readonly create?: boolean;
  /** The backup of a SQLite file that a server makes before it changes the schema. */
  readonly updateBackup?: UpdateBackup | undefined;
  /** Called when the state of the disk is unknown: send no more responses and end the process. */
  readonly onFatal: (error: Error) => void;
  /** Called when work fails that no request waits for, once until it succeeds. The store tries it again. */
  readonly onFault?: OnFault | undefined;
  /** How many events SQLite stores together (default: the usual sizes). PostgreSQL stores each event in its own row. */
  readonly arrangement?: Arrangement | undefined;
}

const isPostgres = (databaseURL: string): boolean => /^postgres(ql)?:/.test(databaseURL);

/** Returns the path in a `sqlite:` URL, unchanged. Throws StoreUnusable for any other URL. */
const fileOf = (databaseURL: string): string => {
  const sqlite = /^sqlite:(.+)$/.exec(databaseURL)?.[1];
  if (sqlite !== undefined) return sqlite;
  throw new StoreUnusable(`DATABASE_URL must be sqlite:<path> or postgres://…, not ${databaseURL.split(':')[0]}:`);
};

/** The absolute path of the SQLite file that the URL names, if there is no such file yet; undefined for any other database. */
export const missingFileOf = (databaseURL: string): string | undefined => {
  if (isPostgres(databaseURL) || databaseURL === 'sqlite::memory:') return undefined;
  const path = resolve(fileOf(databaseURL));
  return existsSync(path) ? undefined : path;
};

/** Opens the database that the URL names. Throws StoreUnusable when the database cannot be served. */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { databaseURL, role, create = false, onFatal, onFault, arrangement, updateBackup } = options;
  if (isPostgres(databaseURL)) {
    const { openPostgres } = await import('./postgres/store.ts');
    return openPostgres(databaseURL, { role, create, onFault });
  }
  const sqlite = fileOf(databaseURL);
  const { openBeside, openMemoryStore, openServing } = await import('./sqlite/store.ts');
  if (sqlite === ':memory:') return openMemoryStore(arrangement);
  const path = resolve(sqlite);
  return role === 'beside'
    ? openBeside(path, { create, arrangement })
    : openServing({ path, arrangement }, onFatal, updateBackup);
};

/**
 * Migrates a PostgreSQL database to the schema that this program knows, as a server does at its start; with `citus`, also
 * distributes it over the machines of its cluster, and returns what it has distributed. Throws StoreUnusable when that fails.
 */
export const migrateStore = async (
  databaseURL: string,
  options: { readonly citus: boolean } & SpreadOptions,
): Promise<Spread | undefined> => {
  if (!isPostgres(databaseURL)) {
    throw new StoreUnusable('a server migrates a SQLite file when it opens it: start the server');
  }
  const { migrateDatabase } = await import('./postgres/database/citus.ts');
  return migrateDatabase(databaseURL, options);
};

/**
 * Copies a database into an empty one of the other kind: a SQLite file into PostgreSQL, where an interrupted copy continues; or a
 * PostgreSQL database into a new file. No server may use the source meanwhile. Throws StoreUnusable when copying is not possible.
 */
export const copyStore = async ({ from, to, tell }: { from: string; to: string; tell: Tell }): Promise<void> => {
  if (isPostgres(from) === isPostgres(to)) {
    throw new StoreUnusable('one of the two databases must be sqlite:<file>, and the other postgres://…');
  }
  const [{ openExport }, { copyInto }] = isPostgres(from)
    ? await Promise.all([import('./postgres/copy/export.ts'), import('./sqlite/copy/copy.ts')])
    : await Promise.all([import('./sqlite/copy/export.ts'), import('./postgres/copy/copy.ts')]);
  const placeOf = (databaseURL: string) => (isPostgres(databaseURL) ? databaseURL : resolve(fileOf(databaseURL)));
  const exported = await openExport(placeOf(from));
  try {
    await copyInto(placeOf(to), exported, tell);
  } finally {
    await exported.close();
  }
};

const pathToBackUp = (databaseURL: string): string => {
  if (isPostgres(databaseURL))
    throw new StoreUnusable('a PostgreSQL database is copied with its own tools: pg_dump, pg_basebackup');
  return resolve(fileOf(databaseURL));
};

/**
 * Copies a SQLite database, as it is at one moment, to the new file `target`. A server may write meanwhile. The copy is complete
 * and synced before it gets its name. Throws StoreUnusable when `target` exists.
 */
export const backupStore = async (databaseURL: string, target: string): Promise<void> => {
  const path = pathToBackUp(databaseURL);
  const { backupDatabase } = await import('./sqlite/database/backup.ts');
  backupDatabase(path, target);
};

/**
 * Makes a backup in a folder, under a name of its own, verified, with the record of erasures beside it, and removes the oldest ones of
 * this database beyond `keep`. Throws when that fails, and leaves nothing of it.
 */
export const backupStoreInto = async (databaseURL: string, folder: string, keep: number): Promise<FolderBackup> => {
  const path = pathToBackUp(databaseURL);
  const { backupIntoFolder } = await import('./sqlite/database/backup.ts');
  return backupIntoFolder(path, resolve(folder), keep);
};

/** The backups of a database in a folder, which `backupStoreInto` has made. Throws StoreUnusable for a database without a file. */
export const openBackups = async (databaseURL: string, folder: string): Promise<Backups> => {
  const path = pathToBackUp(databaseURL);
  const { openBackupFolder } = await import('./sqlite/database/backup-folder.ts');
  return openBackupFolder(path, resolve(folder));
};

/**
 * Puts the backup `backup` in the place of a SQLite database that no server has open. The present database is kept beside it. Throws
 * StoreUnusable when the backup is not whole or is one of another database, and changes nothing then.
 */
export const restoreStore = async (databaseURL: string, backup: string): Promise<Restored> => {
  if (isPostgres(databaseURL))
    throw new StoreUnusable('a PostgreSQL database is restored with its own tools: pg_restore');
  const { restoreDatabase } = await import('./sqlite/database/restore.ts');
  return restoreDatabase(resolve(fileOf(databaseURL)), resolve(backup));
};

/** Examines a database for `firsthand doctor`. A finding that is not `ok` needs an operator's attention. Changes nothing. */
export const examineStore = async (databaseURL: string, options: ExamineOptions = {}): Promise<Finding[]> => {
  if (isPostgres(databaseURL))
    return (await import('./postgres/doctor/doctor.ts')).examineDatabase(databaseURL, options);
  const { examineDatabase } = await import('./sqlite/database/doctor.ts');
  return examineDatabase(fileOf(databaseURL), options);
};
