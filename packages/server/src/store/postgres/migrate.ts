/** Brings a database to the schema that this program knows. */
import { newestOf, readMigrations } from '../migrations.ts';
import { StoreUnusable } from '../unusable.ts';
import { hasTable, lockKeys, type ScriptedConnection, type TakenConnection } from './connection.ts';

const folder = new URL('./migrations/', import.meta.url);

/** The schema that this program knows. */
export const newestMigration = (): number => newestOf(folder);

/** The schema that a database has: 0 when it has none of ours. Throws when only a newer program knows it. */
export const readSchema = async (db: ScriptedConnection): Promise<number> => {
  if (!(await hasTable(db, 'migration'))) return 0;
  const [[found]] = (await db.script('SELECT max(number) AS number FROM migration')) as [[{ number: number }]];
  const newest = newestMigration();
  if (found.number <= newest) return found.number;
  throw new StoreUnusable(
    `the database was written by a newer Firsthand (schema ${found.number}; this one knows ${newest}): run that one`,
  );
};

/**
 * Applies what is missing in one transaction, so that a database holds the old schema or the new one and nothing between.
 * Of servers that start at once, one does it, and the others wait and find nothing left to do.
 */
export const migrate = async (db: TakenConnection): Promise<void> => {
  if ((await readSchema(db)) === newestMigration()) return;
  try {
    // For as long as the longest migration takes.
    await db.script('BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
    await db.script(`SELECT pg_advisory_xact_lock(${lockKeys.migration})`, 'unhurried');
    // Whoever writes ends first, and nobody begins: each would hold a table that the other waits for.
    await db.script(`SELECT pg_advisory_xact_lock(${lockKeys.structure})`, 'unhurried');
    const found = await readSchema(db);
    if (found === 0) {
      await db.script('CREATE TABLE migration (number integer PRIMARY KEY, "appliedTime" timestamptz NOT NULL)');
    }
    for (const { number, sql } of readMigrations(folder)) {
      if (number > found) await db.script(`${sql}; INSERT INTO migration VALUES (${number}, now())`, 'unhurried');
    }
    await db.commit();
  } catch (error) {
    await db.script('ROLLBACK').catch(() => {});
    throw error;
  }
};
