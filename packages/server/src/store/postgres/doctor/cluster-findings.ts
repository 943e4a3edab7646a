/** Examines a Citus cluster for `firsthand doctor`: what its workers store, and any problems. */

import { formatCount } from '../../../shared/format-count.ts';
import type { Finding } from '../../doctor-findings.ts';
import { readUsage } from '../accounts/usage.ts';
import { listUndistributed, listUnsafeWorkers } from '../database/citus.ts';
import type { Connection } from '../database/connection.ts';

/** Returns the workers that do not respond, or that not all machines can reach. */
const readLost = async (db: Connection): Promise<string[]> =>
  (
    await db.all<{ name: string }>(
      `SELECT DISTINCT to_nodename || ':' || to_nodeport AS name FROM citus_check_cluster_node_health()
       WHERE result IS NOT TRUE ORDER BY name`,
    )
  ).map(({ name }) => name);

interface Worker {
  readonly name: string;
  readonly parts: number;
  readonly bytes: number;
}

/** A group of co-located shards, which are on one machine and have the same accounts. */
interface Part extends Pick<Worker, 'name' | 'bytes'> {
  /** The shard of `account_position`. */
  readonly shard: number;
}

/** Returns the parts, largest first. */
const readParts = (db: Connection): Promise<Part[]> =>
  db.all<Part>(
    `SELECT max(shard.shardid) FILTER (WHERE shard.logicalrelid = 'account_position'::regclass) AS shard,
       nodename || ':' || nodeport AS name, sum(shard_size)::bigint AS bytes
     FROM citus_shards JOIN pg_dist_shard shard USING (shardid)
     WHERE colocation_id = (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass)
     GROUP BY shard.shardminvalue, nodename, nodeport ORDER BY bytes DESC`,
  );

const readWorkers = async (db: Connection, parts: readonly Part[]): Promise<Worker[]> => {
  const rows = await db.all<{ name: string }>(
    `SELECT nodename || ':' || nodeport AS name FROM pg_dist_node WHERE isactive AND shouldhaveshards ORDER BY groupid`,
  );
  return rows.map(({ name }) => {
    const own = parts.filter((part) => part.name === name);
    return { name, parts: own.length, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) };
  });
};

/**
 * With fsync off, a worker refuses writes to accounts (cluster-functions.ts), but not to the service's audit log. With
 * synchronous_commit off, entries in that log could be lost.
 */
const durabilityFinding = async (db: Connection): Promise<Finding> => {
  const workers = (await listUnsafeWorkers(db)).map(({ name, answer }) => `${name}: ${answer}`).join('; ');
  const detail = `${workers}. A crash there may undo commits, and writes of its accounts are refused while fsync is off: turn both settings on, then run sync on that machine`;
  return { name: 'durability', ok: workers === '', detail: workers === '' ? 'each worker syncs its commits' : detail };
};

/**
 * The coordinator sends most values in the text of statements (decision 13), and by default, PostgreSQL logs failed
 * statements.
 */
const logsFinding = async (db: Connection): Promise<Finding> => {
  const rows = await db.all<{ name: string }>(
    `SELECT nodename || ':' || nodeport AS name
     FROM run_command_on_workers($$SELECT current_setting('log_min_error_statement')$$)
     WHERE success AND result NOT IN ('fatal', 'panic') ORDER BY name`,
  );
  const names = rows.map(({ name }) => name).join(', ');
  const detail = `${names}: failed statements are logged with contacts' addresses, which erasures do not remove from logs: as a superuser there, run ALTER ROLE … SET log_min_error_statement = panic`;
  return { name: 'logs', ok: names === '', detail: names === '' ? 'no worker logs failed statements' : detail };
};

const tablesFinding = async (db: Connection): Promise<Finding> => {
  const missing = await listUndistributed(db);
  const detail = `not distributed yet: ${missing.join(', ')}; run firsthand migrate --citus`;
  return { name: 'distributed tables', ok: missing.length === 0, detail: missing.length === 0 ? 'all' : detail };
};

const balanceFinding = async (db: Connection): Promise<Finding> => {
  const { moves } = await db.one<{ moves: number }>(
    `SELECT count(DISTINCT shardminvalue) AS moves
     FROM get_rebalance_table_shards_plan() JOIN pg_dist_shard USING (shardid) WHERE logicalrelid = table_name`,
  );
  const detail = `the rebalancer would move ${moves} parts: SELECT citus_rebalance_start(shard_transfer_mode := 'force_logical') moves them while servers run`;
  return { name: 'balance', ok: moves === 0, detail: moves === 0 ? 'the rebalancer would move nothing' : detail };
};

/** An account is always on one machine, so the rebalancer cannot divide a part that exceeds an even share. */
const largestFinding = async (
  db: Connection,
  [part]: readonly Part[],
  workers: readonly Worker[],
): Promise<Finding[]> => {
  const share = workers.reduce((sum, { bytes }) => sum + bytes, 0) / workers.length;
  if (part === undefined || workers.length < 2 || part.bytes <= share) return [];
  const accounts = await db.all<{ account: number; accountUUID: string }>(
    `SELECT account, "accountUUID" FROM account
     WHERE get_shard_id_for_distribution_column('account_position', account) = $1 ORDER BY account`,
    [part.shard],
  );
  if (accounts.length === 0) return [];
  let largest = { account: 0, accountUUID: '', storedBytes: -1 };
  for (const each of accounts) {
    const { storedBytes } = await readUsage(db, each.account);
    if (storedBytes > largest.storedBytes) largest = { ...each, storedBytes };
  }
  const { account, accountUUID } = largest;
  const where = `its part takes ${part.bytes} bytes on ${part.name}, more than an even share of ${Math.round(share)}`;
  const isAlone = accounts.length === 1;
  return [
    {
      name: 'largest account',
      ok: isAlone,
      detail: isAlone
        ? `${accountUUID}: ${where}; it is alone there and can only grow with that machine`
        : `${accountUUID}: ${where}, with ${formatCount(accounts.length - 1, 'other account')}: ` +
          `SELECT isolate_tenant_to_new_shard('account_position', ${account}, 'CASCADE', shard_transfer_mode := 'block_writes') gives it ` +
          'its own part; writes to these accounts are blocked in the meantime',
    },
  ];
};

/** Returns the findings about a cluster. Statements on all accounts can run only if `isWhole`. */
export const examineCluster = async (db: Connection): Promise<{ findings: Finding[]; isWhole: boolean }> => {
  const lost = await readLost(db);
  if (lost.length > 0) {
    const detail = `${lost.join(', ')} cannot be reached from every machine: the accounts there are unavailable`;
    return { findings: [{ name: 'workers', ok: false, detail }], isWhole: false };
  }
  const parts = await readParts(db);
  const workers = await readWorkers(db, parts);
  const detail = workers
    .map(({ name, parts: count, bytes }) => `${name} has ${formatCount(count, 'part')}, ${bytes} bytes`)
    .join('; ');
  return {
    findings: [
      { name: 'workers', ok: true, detail: `${workers.length}: ${detail}` },
      await durabilityFinding(db),
      await logsFinding(db),
      await tablesFinding(db),
      await balanceFinding(db),
      ...(await largestFinding(db, parts, workers)),
    ],
    isWhole: true,
  };
};
