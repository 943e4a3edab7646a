/** In-memory databases, and an empty database's bytes, from which files are created. */
import { applicationID, type Connection, openConnection } from './connection.ts';
import { prepareLazily } from './lazy-statements.ts';
import { migrate } from './migrate.ts';

let emptyBytes: Buffer | undefined;

const openMigrated = (): Connection => {
  const db = openConnection(':memory:', 'write');
  db.pragma(`application_id = ${applicationID}`);
  migrate(db, ':memory:');
  emptyBytes = db.serialize();
  return db;
};

/** Returns an empty database with the newest schema, as bytes. Migrates once per process: tests open many databases. */
export const getEmptyDatabase = (): Buffer => {
  if (!emptyBytes) openMigrated().close();
  return emptyBytes as Buffer;
};

/**
 * Opens an empty in-memory database that prepares statements on first use. Its size is limited to 1 GiB
 * (SQLITE_CONFIG_MEMDB_MAXSIZE), except for the first database in a process.
 */
export const openMemory = (): Connection => {
  const db = emptyBytes ? openConnection(emptyBytes, 'write') : openMigrated();
  prepareLazily(db);
  return db;
};
