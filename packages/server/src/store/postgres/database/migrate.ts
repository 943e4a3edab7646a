/** Migrates a database to the schema that this program knows. */
import { newestOf, readMigrations } from '../../migrations.ts';
import { StoreUnusable } from '../../unusable.ts';
import { makeClusterFunctions } from './cluster-functions.ts';
import {
  hasTable,
  inParallelLocally,
  lockKeys,
  type ScriptedConnection,
  setLocally,
  type TakenConnection,
} from './connection.ts';

const folder = new URL('../migrations/', import.meta.url);

/** Returns the number of the schema that this program knows. */
export const newestMigration = (): number => newestOf(folder);

/** Returns the number of a database's schema: 0 when it has no tables of Firsthand. Throws StoreUnusable when it is a newer one. */
export const readSchema = async (db: ScriptedConnection): Promise<number> => {
  if (!(await hasTable(db, 'migration'))) return 0;
  const [[found]] = (await db.script('SELECT max(number) AS number FROM migration')) as [[{ number: number }]];
  const newest = newestMigration();
  if (found.number <= newest) return found.number;
  throw new StoreUnusable(
    `the database was written by a newer Firsthand (schema ${found.number}; this version supports up to ${newest}): use the newer version`,
  );
};

/**
 * Applies the missing migrations in one transaction, so that a database has either the old schema or the new one. When several
 * servers start at once, one migrates; the others wait and find nothing to do.
 */
export const migrate = async (db: TakenConnection): Promise<void> => {
  if ((await readSchema(db)) === newestMigration()) return;
  try {
    // Without time limits, because a migration may take long.
    await db.script('BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
    if (db.isSpread) await setLocally(db, inParallelLocally);
    await db.script(`SELECT pg_advisory_xact_lock(${lockKeys.migration})`, 'unhurried');
    // Waits until all writes have ended, and blocks new ones, because a write and a migration could deadlock on tables.
    await db.script(`SELECT pg_advisory_xact_lock(${lockKeys.structure})`, 'unhurried');
    const found = await readSchema(db);
    if (found === 0) {
      await db.script('CREATE TABLE migration (number integer PRIMARY KEY, "appliedTime" timestamptz NOT NULL)');
    }
    for (const { number, sql } of readMigrations(folder)) {
      if (number > found) await db.script(`${sql}; INSERT INTO migration VALUES (${number}, now())`, 'unhurried');
    }
    if (db.isSpread) await makeClusterFunctions(db);
    await db.commit();
  } catch (error) {
    await db.script('ROLLBACK').catch(() => {});
    throw error;
  }
};
