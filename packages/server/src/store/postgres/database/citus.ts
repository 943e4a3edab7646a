/** Distributes the tables over a Citus cluster: all rows of an account are in the shards of one group, on one machine. */
import { StoreUnusable } from '../../unusable.ts';
import {
  type Connection,
  hasTable,
  insistOnFree,
  isServed,
  lockKeys,
  onOneConnection,
  type TakenConnection,
} from './connection.ts';
import { migrate } from './migrate.ts';

/**
 * Tables on the coordinator, where all servers connect: what is found before the account is known. No statement joins one with a table
 * of accounts. As reference tables, each of their rows would be locked on all machines at once.
 */
export const localTables = [
  'account',
  'token',
  'member',
  'passkey',
  'answered_challenge',
  'share_link',
  'position',
  'kept_day',
  'erased_repeat',
  'unknown_proxy',
] as const;

/** Tables of accounts. The first is the one that the others are co-located with. */
export const accountTables = [
  'account_position',
  'account_deletion',
  'audit',
  'catalogue',
  'report_segment',
  'report_view',
  'user_name',
  'user',
  'user_contact',
  'contact_name',
  'contact_address',
  'contact_external_id',
  'contact',
  'contact_user',
  'merged_contact',
  'claim_name',
  'claim',
  'statement_place',
  'statement',
  'contact_found',
  'contact_term',
  'contact_changed',
  'owner_change',
  'erasure',
  'erased_identifier',
  'erased_stretch',
  'erased_contact',
  'request_repeat',
  'refused_request',
  'refused_count',
  'event_total',
  'account_day',
  'event',
  'event_repeat',
  'shard_call',
] as const;

/** Returns the tables of accounts that are not distributed. */
export const listUnspread = async (db: Connection): Promise<string[]> => {
  const rows = await db.all<{ name: string }>(
    'SELECT relname AS name FROM pg_dist_partition JOIN pg_class c ON c.oid = logicalrelid',
  );
  const spread = new Set(rows.map(({ name }) => name));
  return accountTables.filter((table) => !spread.has(table));
};

/** What has been distributed, and over how many machines. */
export interface Spread {
  readonly workers: number;
  readonly tables: readonly string[];
}

export interface SpreadOptions {
  /** Also when no worker is registered: all shards are then on the coordinator. */
  readonly withoutWorkers?: boolean | undefined;
}

/** Adds the account to the keys of repeats. */
const extendKeys = async (db: TakenConnection): Promise<void> => {
  const keys = await db.all<{ name: string; key: string }>(
    `SELECT conrelid::regclass::text AS name, conname AS key FROM pg_constraint
     JOIN pg_inherits ON inhrelid = conrelid AND inhparent = 'event_repeat'::regclass
     WHERE contype = 'p' AND cardinality(conkey) = 2`,
  );
  for (const { name, key } of keys)
    await db.script(`ALTER TABLE ${name} DROP CONSTRAINT ${key}, ADD PRIMARY KEY (holder, key, account)`, 'unhurried');
};

/** Functions that run on the machine that has an account's rows. */
const functionsSQL = `
  SELECT oid::regprocedure::text AS name FROM pg_proc
  WHERE proname IN ('held_floors', 'with_shards', 'as_prepared', 'read_shards', 'be_durable', 'begin_on_shards') AND pronamespace = current_schema()::regnamespace`;

/** Returns the workers that have fsync or synchronous commits off, or that could not be asked, and what they answered. */
export const listUnsynced = (db: Connection): Promise<{ name: string; answer: string }[]> =>
  db.all(
    `SELECT nodename || ':' || nodeport AS name, result AS answer
     FROM run_command_on_workers($$SELECT 'fsync ' || current_setting('fsync') || ', synchronous_commit ' || current_setting('synchronous_commit')$$)
     WHERE NOT success OR result LIKE '% off%' ORDER BY name`,
  );

/** Throws StoreUnusable while a crash of a worker could undo a commit. */
export const requireSynced = async (db: Connection): Promise<void> => {
  const [found] = await listUnsynced(db);
  if (found) throw new StoreUnusable(`a crash of a worker could undo a commit: ${found.name}: ${found.answer}`);
};

/** Throws StoreUnusable while a server or another command is connected. One that connected before the tables were spread takes its locks in the wrong place. */
const requireUnserved = async (db: Connection): Promise<void> => {
  if (await insistOnFree(async () => !(await isServed(db)))) return;
  throw new StoreUnusable(
    'a server or a command is connected to the database: stop all of them, then run firsthand migrate --citus again',
  );
};

const spread = async (db: TakenConnection, { withoutWorkers = false }: SpreadOptions): Promise<Spread> => {
  const citus = await db.get("SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table'");
  if (!citus)
    throw new StoreUnusable(
      'this database has no extension citus: CREATE EXTENSION citus adds it where Citus is installed',
    );
  const { workers } = await db.one<{ workers: number }>(
    'SELECT count(*) AS workers FROM pg_dist_node WHERE isactive AND shouldhaveshards AND groupid <> 0',
  );
  if (workers === 0 && !withoutWorkers)
    throw new StoreUnusable(
      'no worker is registered, so that all tables would stay on this machine: SELECT citus_add_node(…) adds one; --citus-without-workers spreads nevertheless',
    );
  await requireSynced(db);
  if (await hasTable(db, 'copying'))
    throw new StoreUnusable('a copy into this database is not complete: firsthand copy goes on with it');
  const unspread = new Set(await listUnspread(db));
  const [first, ...others] = accountTables;
  const tables: string[] = [];
  const distribute = async (table: string, colocatedWith: string) => {
    if (!unspread.has(table)) return;
    await db.run("SELECT create_distributed_table($1, 'account', colocate_with := $2)", [`"${table}"`, colocatedWith]);
    tables.push(table);
  };
  // Triggers of a shard write to shards of the same account, on the same machine.
  await db.script('SET citus.enable_unsafe_triggers = on; SET lock_timeout = 0; SET statement_timeout = 0');
  await db.script(`SELECT pg_advisory_lock(${lockKeys.structure})`, 'unhurried');
  // A server may have connected while this waited for the lock, or until the first table is distributed.
  await requireUnserved(db);
  await extendKeys(db);
  await distribute(first, 'none');
  for (const table of others) await distribute(table, first);
  for (const { name } of await db.all<{ name: string }>(functionsSQL))
    await db.run('SELECT create_distributed_function($1::regprocedure)', [name]);
  await requireUnserved(db);
  return { workers, tables };
};

/** Migrates the database to the schema that this program knows; with `citus`, distributes all tables that are not distributed. */
export const migrateDatabase = (
  databaseURL: string,
  { citus, ...options }: { citus: boolean } & SpreadOptions,
): Promise<Spread | undefined> =>
  onOneConnection(databaseURL, async (db) => {
    if (citus) await requireUnserved(db);
    await migrate(db);
    return citus ? await spread(db, options) : undefined;
  });
