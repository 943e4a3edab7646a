/** Runs a separate Citus cluster, a coordinator and two workers, with the programs in CITUS_BIN. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getNodeFolder, nodes, startCluster, stopCluster } from '../../test/citus/cluster.ts';
import { createClusterDatabase } from '../../test/citus/databases.ts';
import { type OwnPostgres, readPostgresCPUSeconds } from './own-postgres.ts';

/**
 * The tests' nodes allow 800 connections, plain PostgreSQL 100. The more connections PostgreSQL allows, the longer it
 * takes to read pg_locks, which each server does ten times a second.
 */
const connectionSettings = 'max_connections = 200\n';

/** Calls `use` with a cluster that is deleted afterwards. All tables in the cluster's databases are distributed. */
export const withCluster = async <Value>(use: (cluster: OwnPostgres) => Promise<Value>): Promise<Value> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-citus-'));
  try {
    const url = await startCluster(folder, Object.fromEntries(nodes.map((node) => [node, connectionSettings])));
    return await use({
      createDatabase: () => createClusterDatabase(url, folder),
      cpuSeconds: () => nodes.reduce((sum, node) => sum + readPostgresCPUSeconds(getNodeFolder(folder, node)), 0),
    });
  } finally {
    await stopCluster(folder);
    rmSync(folder, { recursive: true });
  }
};
