/** Brings a database to the schema that this program knows. */
import { newestOf, readMigrations } from '../migrations.ts';
import { StoreUnusable } from '../unusable.ts';
import type { Connection } from './connection.ts';

const folder = new URL('./migrations/', import.meta.url);

/** The schema that this program knows. */
export const newestMigration = (): number => newestOf(folder);

/** Throws when a database has a schema that only a newer program knows. */
export const refuseNewer = (schema: number, path: string): void => {
  const newest = newestMigration();
  if (schema <= newest) return;
  throw new StoreUnusable(
    `${path} was written by a newer Firsthand (schema ${schema}; this one knows ${newest}): run that one`,
  );
};

/**
 * Applies what is missing in one transaction, so that a file holds the old schema or the new one and nothing between.
 * The number is read inside it: of two processes that start at once, the second finds nothing left to do.
 */
export const migrate = (db: Connection, path: string): void => {
  const migrations = readMigrations(folder);
  const newest = newestMigration();
  const version = () => db.pragma('user_version', { simple: true }) as number;
  const foreignKeys = db.pragma('foreign_keys', { simple: true });
  // A table that is made anew keeps its rows' numbers; dropping the old one must not refuse, or look for, what refers to it.
  db.pragma('foreign_keys = OFF');
  try {
    db.transaction(() => {
      const found = version();
      refuseNewer(found, path);
      for (const { number, sql } of migrations) if (number > found) db.exec(sql);
      db.pragma(`user_version = ${newest}`);
    }).immediate();
  } finally {
    db.pragma(`foreign_keys = ${foreignKeys}`);
  }
};
