/** A Citus cluster of its own: a coordinator and two workers, from the programs that CITUS_BIN names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderOf, nodes, startCluster, stopCluster } from '../../test/citus/cluster.ts';
import { newClusterDatabase } from '../../test/citus/databases.ts';
import { cpuSecondsOfPostgres, type OwnPostgres } from './own-postgres.ts';

/**
 * Instead of the 800 of the tests' nodes. Each server reads pg_locks ten times a second, which takes longer the more connections PostgreSQL allows; plain
 * PostgreSQL allows 100.
 */
const fewerConnections = 'max_connections = 200\n';

/** Calls `use` with a cluster that is deleted afterwards. A database is spread, with all tables, whatever its name. */
export const withCluster = async <Value>(use: (cluster: OwnPostgres) => Promise<Value>): Promise<Value> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-citus-'));
  try {
    const url = await startCluster(folder, Object.fromEntries(nodes.map((node) => [node, fewerConnections])));
    return await use({
      createDatabase: () => newClusterDatabase(url, folder),
      cpuSeconds: () => nodes.reduce((sum, node) => sum + cpuSecondsOfPostgres(folderOf(folder, node)), 0),
    });
  } finally {
    await stopCluster(folder);
    rmSync(folder, { recursive: true });
  }
};
