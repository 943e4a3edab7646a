/** A cluster that a test file has to itself, accounts on each of its workers, and a folder for changed servers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { asking } from '../../fixtures/postgres/asking.ts';
import { makeAccountIn } from '../../tools/served.ts';
import { type Node, nodes, startCluster, startNode, stopCluster, stopNode, urlOfNode } from '../cluster.ts';
import { newClusterDatabase } from '../databases.ts';

export interface Account {
  /** Its server token. */
  readonly token: string;
  /** The worker that has it, unless it is moved. */
  readonly node: Node;
}

/** The worker that has the shards of an account. `accountSQL`: its number. */
export const workerOf = async (databaseURL: string, accountSQL: string): Promise<Node> => {
  const [found] = await asking<{ name: string }>(
    databaseURL,
    `SELECT nodename AS name FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
     WHERE shardid = get_shard_id_for_distribution_column('event', ${accountSQL})`,
  );
  const node = nodes.find((name) => found?.name.endsWith(name));
  if (!node) throw new Error(`the account ${accountSQL} is on no worker`);
  return node;
};

const maxTries = 64;

/** Makes accounts until each worker has one. */
const accountsOnEach = async (databaseURL: string): Promise<Account[]> => {
  const found = new Map<Node, Account>();
  for (let nth = 0; found.size < nodes.length - 1; nth += 1) {
    if (nth === maxTries) throw new Error(`${nth} accounts are on one worker`);
    const token = await makeAccountIn(databaseURL, nth);
    const accountUUID = `faults${nth > 0 ? `_${nth}` : ''}`;
    const node = await workerOf(databaseURL, `(SELECT account FROM account WHERE "accountUUID" = '${accountUUID}')`);
    if (!found.has(node)) found.set(node, { token, node });
  }
  return [...found.values()];
};

/** Starts a cluster before the file's first test; stops it, and deletes both folders, after the last. */
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
    /** Where changed servers are written. */
    folder: () => folder,
    cluster: () => cluster,
    start: (node: Node) => startNode(cluster, node),
    /** Stops it as if its machine had lost power. */
    stop: (node: Node) => stopNode(cluster, node, 'immediate'),
    /** Makes a database with an account on each worker. */
    async newDatabase(): Promise<{ databaseURL: string; accounts: Account[] }> {
      const databaseURL = await newClusterDatabase(urlOfNode(cluster, 'coordinator', 'postgres'), cluster);
      return { databaseURL, accounts: await accountsOnEach(databaseURL) };
    },
  };
};
