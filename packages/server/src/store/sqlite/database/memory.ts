/** Databases in memory, and the bytes of an empty one, with which a file begins. */
import { applicationID, type Connection, openConnection } from './connection.ts';
import { prepareLazily } from './lazy-statements.ts';
import { migrate } from './migrate.ts';

let empty: Buffer | undefined;

const migrated = (): Connection => {
  const db = openConnection(':memory:', 'write');
  db.pragma(`application_id = ${applicationID}`);
  migrate(db, ':memory:');
  empty = db.serialize();
  return db;
};

/** The bytes of an empty database of the newest schema. The migrations run once in a process: a test opens many. */
export const emptyDatabase = (): Buffer => {
  if (!empty) migrated().close();
  return empty as Buffer;
};

/**
 * Opens an empty database in memory. The first one of a process may hold as much as there is memory, a further one 1 GiB
 * (SQLITE_CONFIG_MEMDB_MAXSIZE).
 */
export const openMemory = (): Connection => {
  const db = empty ? openConnection(empty, 'write') : migrated();
  prepareLazily(db);
  return db;
};
