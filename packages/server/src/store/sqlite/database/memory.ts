/** Databases in memory, and the bytes of an empty one, with which a file begins. */
import { applicationID, type Connection, openConnection } from './connection.ts';
import { prepareLazily } from './lazy-statements.ts';
import { migrate } from './migrate.ts';

let empty: Buffer | undefined;

const openMigrated = (): Connection => {
  const db = openConnection(':memory:', 'write');
  db.pragma(`application_id = ${applicationID}`);
  migrate(db, ':memory:');
  empty = db.serialize();
  return db;
};

/** The bytes of an empty database of the newest schema. The migrations run once in a process: a test opens many. */
export const emptyDatabase = (): Buffer => {
  if (!empty) openMigrated().close();
  return empty as Buffer;
};

/**
 * Opens an empty database in memory, whose statements are prepared when they are first used. It holds 1 GiB at most
 * (SQLITE_CONFIG_MEMDB_MAXSIZE) where the process has created an empty database before.
 */
export const openMemory = (): Connection => {
  const db = empty ? openConnection(empty, 'write') : openMigrated();
  prepareLazily(db);
  return db;
};
