/** A cluster for a single test file, with accounts on each worker and a folder for modified servers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { querySQL } from '../../fixtures/postgres/sql.ts';
import { createTestAccountIn } from '../../tools/server-process.ts';
import { getNodeURL, type Node, nodes, startCluster, startNode, stopCluster, stopNode } from '../cluster.ts';
import { createClusterDatabase, distributeDatabase } from '../databases.ts';

export interface Account {
  /** The account's server token. */
  readonly token: string;
  /** The account's worker, unless the account has been moved. */
  readonly node: Node;
}

/** Returns the worker with an account's shards. `accountSQL` is SQL for the account's number. */
export const findWorker = async (databaseURL: string, accountSQL: string): Promise<Node> => {
  const [worker] = await querySQL<{ name: string }>(
    databaseURL,
    `SELECT nodename AS name FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
     WHERE shardid = get_shard_id_for_distribution_column('event', ${accountSQL})`,
  );
  const node = nodes.find((name) => worker?.name.endsWith(name));
  if (!node) throw new Error(`the account ${accountSQL} is on no worker`);
  return node;
};

const maxTries = 64;

/** Creates accounts until each worker has one. */
const createAccountOnEach = async (databaseURL: string): Promise<Account[]> => {
  const accounts = new Map<Node, Account>();
  for (let nth = 0; accounts.size < nodes.length - 1; nth += 1) {
    if (nth === maxTries) throw new Error(`${nth} accounts are on one worker`);
    const token = await createTestAccountIn(databaseURL, nth);
    const accountUUID = `faults${nth > 0 ? `_${nth}` : ''}`;
    const node = await findWorker(databaseURL, `(SELECT account FROM account WHERE "accountUUID" = '${accountUUID}')`);
    if (!accounts.has(node)) accounts.set(node, { token, node });
  }
  return [...accounts.values()];
};

/** Starts a cluster before the file's first test. After the last test, stops it and deletes its folders. */
export const useOwnCluster = (settings: Partial<Record<Node, string>> = {}) => {
  let folder: string;
  let cluster: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'firsthand-servers-'));
    cluster = mkdtempSync(join(tmpdir(), 'firsthand-citus-'));
    await startCluster(cluster, settings);
  });
  afterAll(async () => {
    await stopCluster(cluster);
    rmSync(cluster, { recursive: true });
    rmSync(folder, { recursive: true });
  });
  return {
    /** The folder for modified servers. */
    folder: () => folder,
    cluster: () => cluster,
    start: (node: Node) => startNode(cluster, node),
    /** Stops a node as a power failure would. */
    stop: (node: Node) => stopNode(cluster, node, 'immediate'),
    /**
     * Creates a database with an account on each worker. Citus's metadata contains each copy's template, and a new
     * worker must have every database in the metadata. Therefore, `distribute` creates a separate database without a
     * template.
     */
    async newDatabase(create: 'copy' | 'distribute' = 'copy'): Promise<{ databaseURL: string; accounts: Account[] }> {
      const url = getNodeURL(cluster, 'coordinator', 'postgres');
      const databaseURL =
        create === 'copy' ? await createClusterDatabase(url, cluster) : await distributeDatabase(url, 'distributed');
      return { databaseURL, accounts: await createAccountOnEach(databaseURL) };
    },
  };
};
