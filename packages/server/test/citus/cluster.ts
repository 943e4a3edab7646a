// A local Citus cluster: a coordinator and two workers in a folder, each on a Unix socket, from the programs in
// CITUS_BIN.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  backUpPostgres,
  getDatabaseURL,
  startPostgres,
  startStandby,
  stopPostgres,
} from '../fixtures/postgres/server.ts';
import { querySQL } from '../fixtures/postgres/sql.ts';

export const nodes = ['coordinator', 'worker-1', 'worker-2'] as const;
/** `worker-3` joins later, in the test that adds a worker. */
export type Node = (typeof nodes)[number] | 'worker-3';

/** Returns a node's folder, which is also its host name for connections. */
export const getNodeFolder = (cluster: string, node: Node): string => join(cluster, node);

/** Returns the URL of a database on a node. */
export const getNodeURL = (cluster: string, node: Node, database: string): string =>
  getDatabaseURL(getNodeFolder(cluster, node), database);

/**
 * Returns a node's settings. Every server has sessions on each node, and every database has a process that detects
 * deadlocks. A distributed database has thousands of files, so syncing the whole file system after a crash is faster
 * than syncing each file.
 */
const settingsOf = (folder: string) => `
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=prefer'
citus.local_hostname = '${folder}'
citus.shard_count = 32
max_connections = 800
wal_level = logical
max_worker_processes = 300
max_replication_slots = 50
max_wal_senders = 50
recovery_init_sync_method = syncfs
`;

const bin = (): string => {
  const { CITUS_BIN } = process.env;
  if (!CITUS_BIN)
    throw new Error('Citus not found: set CITUS_BIN to its program folder (packages/server/test/citus/README.md)');
  return CITUS_BIN;
};

/** Starts a node. `settings` are extra lines for postgresql.conf, which take effect only when the node is created. */
export const startNode = (cluster: string, node: Node, settings = ''): Promise<void> => {
  const folder = getNodeFolder(cluster, node);
  return startPostgres(folder, { bin: bin(), settings: settingsOf(folder) + settings });
};

/** Stops a node; `immediate` has the effect of a power failure. */
export const stopNode = (cluster: string, node: Node, mode: 'fast' | 'immediate'): Promise<void> =>
  stopPostgres(getNodeFolder(cluster, node), mode, { bin: bin() });

/** Starts a standby for the coordinator, and returns its folder. */
export const startCoordinatorStandby = async (cluster: string): Promise<string> => {
  const folder = mkdtempSync(join(cluster, 'standby-'));
  await startStandby(getNodeFolder(cluster, 'coordinator'), folder, { bin: bin(), settings: settingsOf(folder) });
  return folder;
};

/** Creates the extension in a database on every node, and registers the workers with the coordinator. */
export const joinNodes = async (urls: readonly [coordinator: string, ...workers: string[]]): Promise<void> => {
  await Promise.all(urls.map((url) => querySQL(url, 'CREATE EXTENSION IF NOT EXISTS citus')));
  const [coordinator, ...workers] = urls;
  const placeOf = (url: string) => {
    const { hostname, port } = new URL(url);
    return `'${decodeURIComponent(hostname)}', ${port || 5_432}`;
  };
  await querySQL(coordinator, `SELECT citus_set_coordinator_host(${placeOf(coordinator)})`);
  for (const worker of workers) await querySQL(coordinator, `SELECT citus_add_node(${placeOf(worker)})`);
};

/**
 * Starts the cluster in a folder, and creates the cluster if it does not exist. Returns the URL of the coordinator's
 * database `postgres`.
 */
export const startCluster = async (cluster: string, settings: Partial<Record<Node, string>> = {}): Promise<string> => {
  mkdirSync(cluster, { recursive: true });
  // A node that root starts runs as the user `nobody`, who must be able to read the folder.
  chmodSync(cluster, 0o755);
  // Waits for all nodes before it throws.
  const started = await Promise.allSettled(nodes.map((node) => startNode(cluster, node, settings[node])));
  for (const each of started) if (each.status === 'rejected') throw each.reason;
  const [coordinator, ...workers] = nodes.map((node) => getNodeURL(cluster, node, 'postgres'));
  const [extension] = await querySQL(coordinator as string, "SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  if (!extension) await joinNodes([coordinator as string, ...workers]);
  return coordinator as string;
};

export const stopCluster = async (cluster: string): Promise<void> => {
  await Promise.all([...nodes, 'worker-3' as const].map((node) => stopNode(cluster, node, 'immediate')));
};

/** Copies a running node with `pg_basebackup`, as in the guide. */
export const backUpNode = (cluster: string, node: Node, backup: string): Promise<void> =>
  backUpPostgres(getNodeFolder(cluster, node), backup, { bin: bin() });

/** Replaces a stopped node's data with a backup, which recovers up to a restore point when the node starts. */
export const restoreNode = (cluster: string, node: Node, backup: string, settings: string): void => {
  const data = join(getNodeFolder(cluster, node), 'data');
  rmSync(data, { recursive: true });
  renameSync(backup, data);
  writeFileSync(join(data, 'postgresql.conf'), settings, { flag: 'a' });
  writeFileSync(join(data, 'recovery.signal'), '');
};

/** Sends a signal to a process that might have exited. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** Makes a node hang, as if its disk hung, until the returned function is called. */
export const freezeNode = (cluster: string, node: Node): (() => void) => {
  const first = Number(
    readFileSync(join(getNodeFolder(cluster, node), 'data', 'postmaster.pid'), 'utf8').split('\n')[0],
  );
  // Freezes the postmaster first, because it would restart the other processes.
  signal(first, 'SIGSTOP');
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').split(' ').filter(Boolean);
  const frozen = [...children.map(Number), first];
  for (const pid of frozen) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of frozen) signal(pid, 'SIGCONT');
  };
};
