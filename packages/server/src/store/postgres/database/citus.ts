/** Distributes the tables of accounts over a Citus cluster: their rows of one account are in the shards of one group, on one machine. */
import { StoreUnusable } from '../../unusable.ts';
import { makeClusterFunctions } from './cluster-functions.ts';
import {
  type Connection,
  hasTable,
  insistOnFree,
  listServing,
  lockKeys,
  onOneConnection,
  type TakenConnection,
} from './connection.ts';
import { migrate } from './migrate.ts';

/**
 * Tables on the coordinator, where all servers connect: what is found before the account is known. No request's statement joins one with a
 * table of accounts. As reference tables, each of their rows would be locked on all machines at once.
 */
export const localTables = [
  'account',
  'token',
  'member',
  'known_network',
  'passkey',
  'answered_challenge',
  'share_link',
  'position',
  'kept_day',
  'erased_repeat',
  'unknown_proxy',
] as const;

/**
 * Tables of accounts, in the order in which they are distributed. The others are co-located with the first. Triggers of others write to the second and third,
 * also when rows are copied to the shards.
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
  'request_repeat',
  'refused_request',
  'refused_count',
  'event_total',
  'account_day',
  'event',
  'event_repeat',
] as const;

/** Returns the tables of accounts that are not distributed. */
export const listUnspread = async (db: Connection): Promise<string[]> => {
  const rows = await db.all<{ name: string }>(
    'SELECT relname AS name FROM pg_dist_partition JOIN pg_class c ON c.oid = logicalrelid',
  );
  const spread = new Set(rows.map(({ name }) => name));
  return accountTables.filter((table) => !spread.has(table));
};

/** Returns the distributed tables whose former rows are still on the coordinator, where no statement reads or erases them. */
const listLeft = async (db: Connection): Promise<string[]> => {
  const rows = await db.all<{ name: string }>(
    `SELECT relname AS name FROM pg_class c JOIN pg_dist_partition ON logicalrelid = c.oid
     WHERE relname = ANY ($1::text[]) AND EXISTS (SELECT FROM pg_partition_tree(c.oid) t WHERE pg_relation_size(t.relid) > 0)`,
    [accountTables],
  );
  return rows.map(({ name }) => name);
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
  let processes: number[] = [];
  const isFree = async () => {
    processes = await listServing(db);
    return processes.length === 0;
  };
  if (await insistOnFree(isFree)) return;
  throw new StoreUnusable(
    `a server or a command is connected to the database (processes of PostgreSQL: ${processes.join(', ')}): stop all of them, then run firsthand migrate --citus again`,
  );
};

/**
 * Ends the connections of servers and commands that connected while tables were spread: when they connect again, they find the tables spread. Throws
 * StoreUnusable if there were any.
 */
const endServing = async (db: Connection): Promise<void> => {
  const processes = await listServing(db);
  if (processes.length === 0) return;
  const advice = 'stop all of them, run firsthand migrate --citus again, then start them';
  await db.run('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [processes]).catch((cause) => {
    throw new StoreUnusable(`a server or a command connected while tables were spread: ${advice}`, { cause });
  });
  throw new StoreUnusable(
    `a server or a command connected while tables were spread, and its connections were ended: ${advice}`,
  );
};

const countWorkers = async (db: Connection): Promise<number> =>
  (
    await db.one<{ workers: number }>(
      'SELECT count(*) AS workers FROM pg_dist_node WHERE isactive AND shouldhaveshards AND groupid <> 0',
    )
  ).workers;

const requireCitus = async (db: Connection, { withoutWorkers = false }: SpreadOptions): Promise<void> => {
  const citus = await db.get("SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table'");
  if (!citus)
    throw new StoreUnusable(
      'this database has no extension citus: CREATE EXTENSION citus adds it where Citus is installed',
    );
  if ((await countWorkers(db)) === 0 && !withoutWorkers)
    throw new StoreUnusable(
      'no worker is registered, so that all tables would stay on this machine: SELECT citus_add_node(…) adds one; --citus-without-workers spreads nevertheless',
    );
  await requireSynced(db);
};

/** Distributes the tables that are not distributed, and returns them. */
const spreadTables = async (db: TakenConnection): Promise<string[]> => {
  // Triggers of a shard write to shards of the same account, on the same machine.
  await db.script('SET citus.enable_unsafe_triggers = on; SET lock_timeout = 0; SET statement_timeout = 0');
  await db.script(`SELECT pg_advisory_lock(${lockKeys.structure})`, 'unhurried');
  if (await hasTable(db, 'copying'))
    throw new StoreUnusable('a copy into this database is not complete: firsthand copy goes on with it');
  const unspread = await listUnspread(db);
  await extendKeys(db);
  // A server may have connected, or a copy begun, since it was asked first.
  await requireUnserved(db);
  for (const table of unspread) {
    // No server starts between the first table and the last. Changes of owners that triggers have numbered on the workers (from 2^48 on) are deleted, because
    // later changes have lower numbers. Contacts that triggers have noted as changed need no such care: they are only indexed again.
    if (table === unspread.at(-1))
      await db.script('DELETE FROM owner_change WHERE change >= 281474976710656', 'unhurried');
    const beside = table === accountTables[0] ? 'none' : accountTables[0];
    // Copies all rows of the table.
    await db.script(
      `SELECT create_distributed_table('"${table}"', 'account', colocate_with := '${beside}')`,
      'unhurried',
    );
  }
  // One may have connected before the first table was distributed.
  await endServing(db);
  await db.script("SET firsthand.emptying = 'on'");
  for (const table of await listLeft(db))
    await db.script(`SELECT truncate_local_data_after_distributing_table('"${table}"')`, 'unhurried');
  return unspread;
};

/** Migrates the database to the schema that this program knows; with `citus`, distributes all tables that are not distributed. */
export const migrateDatabase = (
  databaseURL: string,
  { citus, ...options }: { citus: boolean } & SpreadOptions,
): Promise<Spread | undefined> =>
  onOneConnection(databaseURL, async (db) => {
    const isMissing = async () => !db.isSpread || [...(await listUnspread(db)), ...(await listLeft(db))].length > 0;
    if (citus && (await isMissing())) await requireUnserved(db);
    await migrate(db);
    if (!citus) return undefined;
    const mustSpread = await isMissing();
    if (mustSpread) await requireCitus(db, options);
    const tables = mustSpread ? await spreadTables(db) : [];
    await makeClusterFunctions(db);
    return { workers: await countWorkers(db), tables };
  });
