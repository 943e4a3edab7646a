/** Distributes account tables over a Citus cluster. All rows of an account are in co-located shards, on one machine. */
import { StoreUnusable } from '../../unusable.ts';
import { createClusterFunctions } from './cluster-functions.ts';
import {
  type Connection,
  type HeldConnection,
  hasTable,
  listClientProcesses,
  lockKeys,
  runOnConnection,
  waitUntilFree,
} from './connection.ts';
import { migrate } from './migrate.ts';

/**
 * Account tables, in the order of their distribution; all are co-located with the first table. The second and third
 * come early because other tables' triggers write to them, even while rows are copied to the shards.
 */
export const accountTables = [
  'account_position',
  'contact_changed',
  'owner_change',
  'account_deletion',
  'audit',
  'catalogue',
  'report_segment',
  'report_view',
  'goal',
  'note',
  'webhook_fact',
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
  'erasure',
  'erased_identifier',
  'erased_stretch',
  'erased_contact',
  'import',
  'import_stretch',
  'import_contact',
  'request_repeat',
  'refused_request',
  'refused_count',
  'event_total',
  'account_day',
  'event',
  'event_repeat',
] as const;

/** Returns the account tables that are not distributed. */
export const listUndistributed = async (db: Connection): Promise<string[]> => {
  const rows = await db.all<{ name: string }>(
    'SELECT relname AS name FROM pg_dist_partition JOIN pg_class c ON c.oid = logicalrelid',
  );
  const spread = new Set(rows.map(({ name }) => name));
  return accountTables.filter((table) => !spread.has(table));
};

/** Returns distributed tables with rows left on the coordinator, where no statement would read or erase them. */
const listTablesWithLocalRows = async (db: Connection): Promise<string[]> => {
  const rows = await db.all<{ name: string }>(
    `SELECT relname AS name FROM pg_class c JOIN pg_dist_partition ON logicalrelid = c.oid
     WHERE relname = ANY ($1::text[]) AND EXISTS (SELECT FROM pg_partition_tree(c.oid) t WHERE pg_relation_size(t.relid) > 0)`,
    [accountTables],
  );
  return rows.map(({ name }) => name);
};

/** The newly distributed tables, and the number of workers. */
export interface Distribution {
  readonly workers: number;
  readonly tables: readonly string[];
}

export interface DistributionOptions {
  /** Distributes the tables even if no worker is registered. Then all shards are on the coordinator. */
  readonly withoutWorkers?: boolean | undefined;
}

/** Adds the account to the repeat tables' primary keys, because Citus requires it. */
const extendKeys = async (db: HeldConnection): Promise<void> => {
  const keys = await db.all<{ name: string; key: string }>(
    `SELECT conrelid::regclass::text AS name, conname AS key FROM pg_constraint
     JOIN pg_inherits ON inhrelid = conrelid AND inhparent = 'event_repeat'::regclass
     WHERE contype = 'p' AND cardinality(conkey) = 2`,
  );
  for (const { name, key } of keys)
    await db.script(`ALTER TABLE ${name} DROP CONSTRAINT ${key}, ADD PRIMARY KEY (holder, key, account)`, 'unhurried');
};

/**
 * Returns the workers that have fsync or synchronous_commit off, with these settings, and those that do not respond,
 * with the error.
 */
export const listUnsafeWorkers = (db: Connection): Promise<{ name: string; answer: string }[]> =>
  db.all(
    `SELECT nodename || ':' || nodeport AS name, result AS answer
     FROM run_command_on_workers($$SELECT 'fsync ' || current_setting('fsync') || ', synchronous_commit ' || current_setting('synchronous_commit')$$)
     WHERE NOT success OR result LIKE '% off%' ORDER BY name`,
  );

/** Throws StoreUnusable while a worker's crash could undo a commit. */
export const requireSafeWorkers = async (db: Connection): Promise<void> => {
  const [worker] = await listUnsafeWorkers(db);
  if (worker) throw new StoreUnusable(`a worker’s crash could undo a commit: ${worker.name}: ${worker.answer}`);
};

/**
 * Throws StoreUnusable while a server or another command is connected: a client that connected before the distribution
 * would take its locks on the coordinator.
 */
const requireNoClients = async (db: Connection): Promise<void> => {
  let processes: number[] = [];
  const isFree = async () => {
    processes = await listClientProcesses(db);
    return processes.length === 0;
  };
  if (await waitUntilFree(isFree)) return;
  throw new StoreUnusable(
    `a server or a command is connected to the database (PostgreSQL processes ${processes.join(', ')}): stop all of them, then run firsthand migrate --citus again`,
  );
};

/**
 * Ends the connections of servers and commands that connected during the distribution, so that they reconnect and
 * notice the distribution. Throws StoreUnusable if there were any.
 */
const terminateClients = async (db: Connection): Promise<void> => {
  const processes = await listClientProcesses(db);
  if (processes.length === 0) return;
  const advice = 'stop all of them, run firsthand migrate --citus again, then start them';
  await db.run('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [processes]).catch((cause) => {
    throw new StoreUnusable(`a server or a command connected while tables were being distributed: ${advice}`, {
      cause,
    });
  });
  throw new StoreUnusable(
    `a server or a command connected while tables were being distributed, and its connections were ended: ${advice}`,
  );
};

const countWorkers = async (db: Connection): Promise<number> =>
  (
    await db.one<{ workers: number }>(
      'SELECT count(*) AS workers FROM pg_dist_node WHERE isactive AND shouldhaveshards AND groupid <> 0',
    )
  ).workers;

const requireCitus = async (db: Connection, { withoutWorkers = false }: DistributionOptions): Promise<void> => {
  const citus = await db.get("SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table'");
  if (!citus)
    throw new StoreUnusable(
      'this database has no citus extension: run CREATE EXTENSION citus, which needs Citus to be installed',
    );
  if ((await countWorkers(db)) === 0 && !withoutWorkers)
    throw new StoreUnusable(
      'no worker is registered, so all tables would stay on this machine: add one with SELECT citus_add_node(…), or pass --citus-without-workers',
    );
  await requireSafeWorkers(db);
};

/** Distributes the tables that are not distributed, and returns them. */
const distributeTables = async (db: HeldConnection): Promise<string[]> => {
  // "Unsafe" triggers are safe here: a shard's triggers write only to shards of the same account, on the same machine.
  await db.script('SET citus.enable_unsafe_triggers = on; SET lock_timeout = 0; SET statement_timeout = 0');
  await db.script(`SELECT pg_advisory_lock(${lockKeys.structure})`, 'unhurried');
  if (await hasTable(db, 'copying'))
    throw new StoreUnusable('a copy into this database is not complete: run firsthand copy again to resume it');
  const undistributed = await listUndistributed(db);
  await extendKeys(db);
  // A server may have connected, or a copy started, since the first check.
  await requireNoClients(db);
  for (const table of undistributed) {
    // No server starts before the last table is distributed. Until then, triggers on workers have numbered owner
    // changes from 2^48 on. These changes are deleted, because later changes get lower numbers. Contacts listed as
    // changed can stay, because they are only indexed again.
    if (table === undistributed.at(-1))
      await db.script('DELETE FROM owner_change WHERE change >= 281474976710656', 'unhurried');
    const colocation = table === accountTables[0] ? 'none' : accountTables[0];
    // Copies all rows of the table.
    await db.script(
      `SELECT create_distributed_table('"${table}"', 'account', colocate_with := '${colocation}')`,
      'unhurried',
    );
  }
  // A server may have connected after the last check and before the first table was distributed.
  await terminateClients(db);
  await db.script("SET firsthand.emptying = 'on'");
  for (const table of await listTablesWithLocalRows(db))
    await db.script(`SELECT truncate_local_data_after_distributing_table('"${table}"')`, 'unhurried');
  return undistributed;
};

/** Migrates the database to the newest schema; with `citus`, distributes the tables that are not distributed yet. */
export const migrateDatabase = (
  databaseURL: string,
  { citus, ...options }: { citus: boolean } & DistributionOptions,
): Promise<Distribution | undefined> =>
  runOnConnection(databaseURL, async (db) => {
    const isMissing = async () =>
      !db.isDistributed || [...(await listUndistributed(db)), ...(await listTablesWithLocalRows(db))].length > 0;
    if (citus && (await isMissing())) await requireNoClients(db);
    await migrate(db);
    if (!citus) return undefined;
    const mustDistribute = await isMissing();
    if (mustDistribute) await requireCitus(db, options);
    const tables = mustDistribute ? await distributeTables(db) : [];
    await createClusterFunctions(db);
    return { workers: await countWorkers(db), tables };
  });
