/** Migrates a database to this program's newest schema. */
import { findNewestMigration, readMigrations } from '../../migrations.ts';
import { StoreUnusable } from '../../unusable.ts';
import { createClusterFunctions } from './cluster-functions.ts';
import {
  type HeldConnection,
  hasTable,
  lockKeys,
  parallelShardSettings,
  type ScriptedConnection,
  setLocally,
} from './connection.ts';

const folder = new URL('../migrations/', import.meta.url);

/** Returns the version number of this program's newest schema. */
export const getNewestMigration = (): number => findNewestMigration(folder);

/**
 * Returns a database's schema version; 0 if it has no Firsthand tables. Throws StoreUnusable if the schema is too new.
 */
export const readSchema = async (db: ScriptedConnection): Promise<number> => {
  if (!(await hasTable(db, 'migration'))) return 0;
  const [[last]] = (await db.script('SELECT max(number) AS number FROM migration')) as [[{ number: number }]];
  const newest = getNewestMigration();
  if (last.number <= newest) return last.number;
  throw new StoreUnusable(
    `the database was written by a newer Firsthand (schema ${last.number}; this version supports up to ${newest}): use the newer version`,
  );
};

/**
 * Applies the missing migrations in one transaction, so that a database has either the old schema or the new one. If
 * several servers start concurrently, one migrates and the others wait.
 */
export const migrate = async (db: HeldConnection): Promise<void> => {
  if ((await readSchema(db)) === getNewestMigration()) return;
  try {
    // Has no time limits, because a migration can take a long time.
    await db.script('BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
    if (db.isDistributed) await setLocally(db, parallelShardSettings);
    await db.script(`SELECT pg_advisory_xact_lock(${lockKeys.migration})`, 'unhurried');
    // Waits until all writes have ended, and blocks new ones, because a write and a migration could deadlock on tables.
    await db.script(`SELECT pg_advisory_xact_lock(${lockKeys.structure})`, 'unhurried');
    const current = await readSchema(db);
    if (current === 0) {
      await db.script('CREATE TABLE migration (number integer PRIMARY KEY, "appliedTime" timestamptz NOT NULL)');
    }
    for (const { number, sql } of readMigrations(folder)) {
      if (number > current) await db.script(`${sql}; INSERT INTO migration VALUES (${number}, now())`, 'unhurried');
    }
    if (db.isDistributed) await createClusterFunctions(db);
    await db.commit();
  } catch (error) {
    await db.script('ROLLBACK').catch(() => {});
    throw error;
  }
};
