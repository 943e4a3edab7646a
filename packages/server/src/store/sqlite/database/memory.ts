/** Databases in memory. */
import { type Connection, openConnection } from './connection.ts';
import { migrate } from './migrate.ts';

let migrated: Buffer | undefined;

/**
 * Opens an empty database in memory, of the newest schema. The migrations run for the first one of a process, and each further one
 * is a copy: a test opens one in a tenth of the time. A copy holds 1 GiB at most (SQLITE_CONFIG_MEMDB_MAXSIZE), the first one as much
 * as there is memory.
 */
export const openMemory = (): Connection => {
  if (migrated) return openConnection(migrated, 'write');
  const db = openConnection(':memory:', 'write');
  migrate(db, ':memory:');
  migrated = db.serialize();
  return db;
};
