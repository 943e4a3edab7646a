/** Migrates a database to the schema of this program. */
import { newestOf, readMigrations } from '../../migrations.ts';
import { StoreUnusable } from '../../unusable.ts';
import type { Connection } from './connection.ts';

const folder = new URL('../migrations/', import.meta.url);

/** The number of the newest schema that this program knows. */
export const newestMigration = (): number => newestOf(folder);

/** Throws when the schema of a database is newer than this program. */
export const refuseNewer = (schema: number, path: string): void => {
  const newest = newestMigration();
  if (schema <= newest) return;
  throw new StoreUnusable(
    `${path} was written by a newer Firsthand (schema ${schema}; this version supports up to ${newest}): use the newer version`,
  );
};

/**
 * Applies the missing migrations in one transaction, so that a file has either the old schema or the new one. The schema's number
 * is read within it: of two processes that start at once, the second finds nothing left to do.
 */
export const migrate = (db: Connection, path: string): void => {
  const migrations = readMigrations(folder);
  const newest = newestMigration();
  const foreignKeys = db.pragma('foreign_keys', { simple: true });
  // A table that is created anew keeps its rows' numbers: dropping the old table must neither fail on rows that refer to it nor
  // search for them.
  db.pragma('foreign_keys = OFF');
  try {
    db.transaction(() => {
      const found = db.pragma('user_version', { simple: true }) as number;
      refuseNewer(found, path);
      for (const { number, sql } of migrations) if (number > found) db.exec(sql);
      db.pragma(`user_version = ${newest}`);
    }).immediate();
  } finally {
    db.pragma(`foreign_keys = ${foreignKeys}`);
  }
};
