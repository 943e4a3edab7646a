/** Migrates a database to this program's schema. */
import { findNewestMigration, readMigrations } from '../../migrations.ts';
import { StoreUnusable } from '../../unusable.ts';
import type { Connection } from './connection.ts';

const folder = new URL('../migrations/', import.meta.url);

/** Returns this program's schema version. */
export const getNewestMigration = (): number => findNewestMigration(folder);

/** Throws StoreUnusable if a database's schema is newer than this program's. */
export const refuseNewerSchema = (schema: number, path: string): void => {
  const newest = getNewestMigration();
  if (schema <= newest) return;
  throw new StoreUnusable(
    `${path} was written by a newer Firsthand (schema ${schema}; this version supports up to ${newest}): use the newer version`,
  );
};

/**
 * Applies the missing migrations in one transaction, so that a file has either the old or the new schema. Reads the
 * version inside the transaction, so that the second of two concurrent processes does nothing.
 */
export const migrate = (db: Connection, path: string): void => {
  const migrations = readMigrations(folder);
  const newest = getNewestMigration();
  const foreignKeys = db.pragma('foreign_keys', { simple: true });
  // Turns foreign keys off: a recreated table keeps its row numbers, so dropping the old table must not check the rows
  // that reference it.
  db.pragma('foreign_keys = OFF');
  try {
    db.transaction(() => {
      const current = db.pragma('user_version', { simple: true }) as number;
      refuseNewerSchema(current, path);
      for (const { number, sql } of migrations) if (number > current) db.exec(sql);
      db.pragma(`user_version = ${newest}`);
    }).immediate();
  } finally {
    db.pragma(`foreign_keys = ${foreignKeys}`);
  }
};
