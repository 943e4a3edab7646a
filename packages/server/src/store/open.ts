import { resolve } from 'node:path';
import type { ExamineOptions, Finding } from './finding.ts';
import type { CopyProgress } from './holdings.ts';
import type { AmongOptions, AmongStore, FirstStore } from './several.ts';
import type { Arrangement } from './sqlite/arrangement.ts';
import type { Store } from './store.ts';
import { StoreUnusable } from './unusable.ts';

export interface StoreOptions {
  /** `sqlite:./data/firsthand.db`, or `sqlite::memory:` for one that goes with the process; or `postgres://…`. */
  readonly databaseURL: string;
  /** `server`: the one that keeps events. `beside`: a command next to it, for accounts, tokens, refused requests and reads. */
  readonly role: 'server' | 'beside';
  /** Whether a command makes the database where there is none; a server always does. */
  readonly create?: boolean;
  /** It can't be known any more what is on the disk: answer nothing, end the process. */
  readonly onFatal: (error: Error) => void;
  /** How many events SQLite stores together; the usual numbers where there is none. PostgreSQL stores each by itself. */
  readonly arrangement?: Arrangement | undefined;
}

const isPostgres = (databaseURL: string): boolean => /^postgres(ql)?:/.test(databaseURL);

/** The file that the URL names, as it is written there. */
const fileOf = (databaseURL: string): string => {
  const sqlite = /^sqlite:(.+)$/.exec(databaseURL)?.[1];
  if (sqlite !== undefined) return sqlite;
  throw new StoreUnusable(`DATABASE_URL must be sqlite:<path> or postgres://…, not ${databaseURL.split(':')[0]}:`);
};

/** Begins what takes longest of opening one for a server, before it is known which: it goes on beside whatever else is loaded. */
export const prepareServing = async (): Promise<void> => {
  const { beginThreads } = await import('./sqlite/threads.ts');
  beginThreads();
};

/** Opens the database that the URL names; throws StoreUnusable when it can't be served. */
export const openStore = async ({
  databaseURL,
  role,
  create = false,
  onFatal,
  arrangement,
}: StoreOptions): Promise<Store> => {
  if (isPostgres(databaseURL)) {
    const [{ openPostgres }, { dismissThreads }] = await Promise.all([
      import('./postgres/store.ts'),
      import('./sqlite/threads.ts'),
    ]);
    dismissThreads();
    return openPostgres(databaseURL, { role, create });
  }
  const sqlite = fileOf(databaseURL);
  const { openBeside, openMemoryStore, openServing } = await import('./sqlite/store.ts');
  if (sqlite === ':memory:') return openMemoryStore(arrangement);
  const path = resolve(sqlite);
  return role === 'beside' ? openBeside(path, { create, arrangement }) : openServing({ path, arrangement }, onFatal);
};

/** The path of a database file; throws StoreUnusable of one in memory, which no other process can read. */
const sharedPathOf = (databaseURL: string): string => {
  if (isPostgres(databaseURL)) {
    throw new StoreUnusable('WORKERS (or --workers) must be 1 with PostgreSQL: start several servers over it instead');
  }
  const file = fileOf(databaseURL);
  if (file !== ':memory:') return resolve(file);
  throw new StoreUnusable('WORKERS (or --workers) must be 1 with sqlite::memory:, which no other process can read');
};

/** As openStore for a server, in the first of several processes. */
export const openFirstStore = async (databaseURL: string, onFatal: (error: Error) => void): Promise<FirstStore> => {
  const path = sharedPathOf(databaseURL);
  const { openFirst } = await import('./sqlite/store.ts');
  return openFirst(path, onFatal);
};

/** In one of the others, once the first has opened it. */
export const openStoreAmong = async (databaseURL: string, options: AmongOptions): Promise<AmongStore> => {
  const path = sharedPathOf(databaseURL);
  const { openAmong } = await import('./sqlite/store.ts');
  return openAmong(path, options);
};

/**
 * Brings a PostgreSQL database to the schema that this program knows, as a server does at its start; with `citus`, spreads it
 * over the machines of its cluster. Throws StoreUnusable when that can't be done.
 */
export const migrateStore = async (databaseURL: string, { citus }: { citus: boolean }): Promise<void> => {
  if (!isPostgres(databaseURL)) {
    throw new StoreUnusable('a SQLite file is brought to its schema when a server opens it: start that');
  }
  const { migrateDatabase } = await import('./postgres/citus.ts');
  await migrateDatabase(databaseURL, { citus });
};

/**
 * Copies all that a database holds into an empty one of the other kind: a SQLite file into PostgreSQL, where one that was
 * interrupted goes on; or a PostgreSQL database into a new file. No server may have the first meanwhile. Throws StoreUnusable
 * when it can't be done.
 */
export const copyStore = async ({
  from,
  to,
  tell,
}: {
  from: string;
  to: string;
  tell: (progress: CopyProgress) => void;
}): Promise<void> => {
  if (isPostgres(from) === isPostgres(to)) {
    throw new StoreUnusable(
      'what is copied goes from sqlite:<file> to postgres://…, or from there to a new sqlite:<file>',
    );
  }
  return isPostgres(from)
    ? copyToFile(from, resolve(fileOf(to)), tell)
    : copyToPostgres(resolve(fileOf(from)), to, tell);
};

type Tell = (progress: CopyProgress) => void;

const copyToPostgres = async (path: string, databaseURL: string, tell: Tell): Promise<void> => {
  const [{ openHoldings }, { copyInto }] = await Promise.all([
    import('./sqlite/holdings.ts'),
    import('./postgres/copy.ts'),
  ]);
  const holdings = openHoldings(path);
  try {
    await copyInto(databaseURL, holdings, tell);
  } finally {
    holdings.close();
  }
};

const copyToFile = async (databaseURL: string, path: string, tell: Tell): Promise<void> => {
  const [{ openHoldings }, { copyInto }] = await Promise.all([
    import('./postgres/holdings.ts'),
    import('./sqlite/copy.ts'),
  ]);
  const holdings = await openHoldings(databaseURL);
  try {
    await copyInto(path, holdings, tell);
  } finally {
    await holdings.close();
  }
};

/**
 * Copies the database to the new file `target`, as it is at this moment, while a server may go on writing; the copy is
 * complete and synced when it gets its name. Throws StoreUnusable when `target` exists.
 */
export const backupStore = async (databaseURL: string, target: string): Promise<void> => {
  if (isPostgres(databaseURL))
    throw new StoreUnusable('a PostgreSQL database is copied with its own tools: pg_dump, pg_basebackup');
  const { backupDatabase } = await import('./sqlite/backup.ts');
  backupDatabase(fileOf(databaseURL), target);
};

/** What a person who runs the service wants to know of the database; what is not `ok` needs somebody. Changes nothing. */
export const examineStore = async (databaseURL: string, options: ExamineOptions = {}): Promise<Finding[]> => {
  if (isPostgres(databaseURL)) return (await import('./postgres/doctor.ts')).examineDatabase(databaseURL, options);
  const { examineDatabase } = await import('./sqlite/doctor.ts');
  return examineDatabase(fileOf(databaseURL), options);
};
