// A Citus cluster of our own: a coordinator and two workers in a folder, each on a socket, from the programs that CITUS_BIN names.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asking } from '../fixtures/postgres/asking.ts';
import { startPostgres, startStandby, stopPostgres, urlOf } from '../fixtures/postgres/server.ts';

export const nodes = ['coordinator', 'worker-1', 'worker-2'] as const;
export type Node = (typeof nodes)[number];

/** The folder of a node, by which the others connect to it. */
export const folderOf = (cluster: string, node: Node): string => join(cluster, node);

/** The URL of a database of a node. */
export const urlOfNode = (cluster: string, node: Node, database: string): string =>
  urlOf(folderOf(cluster, node), database);

/**
 * Every server keeps a session on each node, and every database a process that looks for deadlocks. After a crash PostgreSQL syncs all
 * its files, of which a spread database has thousands: all of the disk at once takes less.
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
    throw new Error('no Citus: CITUS_BIN names the folder of the programs (packages/server/test/citus/README.md)');
  return CITUS_BIN;
};

/** `settings` are further lines of postgresql.conf, when the node is made. */
export const startNode = (cluster: string, node: Node, settings = ''): Promise<void> => {
  const folder = folderOf(cluster, node);
  return startPostgres(folder, { bin: bin(), settings: settingsOf(folder) + settings });
};

/** `immediate` is as if its machine had lost power. */
export const stopNode = (cluster: string, node: Node, mode: 'fast' | 'immediate'): Promise<void> =>
  stopPostgres(folderOf(cluster, node), mode, { bin: bin() });

/** Starts a standby of the coordinator; answers its folder. */
export const startStandbyOfCoordinator = async (cluster: string): Promise<string> => {
  const folder = mkdtempSync(join(cluster, 'standby-'));
  await startStandby(folderOf(cluster, 'coordinator'), folder, { bin: bin(), settings: settingsOf(folder) });
  return folder;
};

/** What each database needs on every node before the coordinator knows the workers. */
export const joinNodes = async (urls: readonly [coordinator: string, ...workers: string[]]): Promise<void> => {
  await Promise.all(urls.map((url) => asking(url, 'CREATE EXTENSION IF NOT EXISTS citus')));
  const [coordinator, ...workers] = urls;
  const placeOf = (url: string) => {
    const { hostname, port } = new URL(url);
    return `'${decodeURIComponent(hostname)}', ${port || 5_432}`;
  };
  await asking(coordinator, `SELECT citus_set_coordinator_host(${placeOf(coordinator)})`);
  for (const worker of workers) await asking(coordinator, `SELECT citus_add_node(${placeOf(worker)})`);
};

/** Starts the cluster of a folder, and makes it where there is none; answers the URL of the coordinator's database `postgres`. */
export const startCluster = async (cluster: string, settings: Partial<Record<Node, string>> = {}): Promise<string> => {
  mkdirSync(cluster, { recursive: true });
  // Each node runs as nobody, when root starts it.
  chmodSync(cluster, 0o755);
  // All have ended, one way or the other, before a failure is thrown.
  const started = await Promise.allSettled(nodes.map((node) => startNode(cluster, node, settings[node])));
  for (const each of started) if (each.status === 'rejected') throw each.reason;
  const [coordinator, ...workers] = nodes.map((node) => urlOfNode(cluster, node, 'postgres'));
  const [known] = await asking(coordinator as string, "SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  if (!known) await joinNodes([coordinator as string, ...workers]);
  return coordinator as string;
};

export const stopCluster = async (cluster: string): Promise<void> => {
  await Promise.all(nodes.map((node) => stopNode(cluster, node, 'immediate')));
};

/** Sends a signal to a process that may have ended. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** Has a node answer nothing, as a machine whose disk hangs, until the returned function is called. */
export const freezeNode = (cluster: string, node: Node): (() => void) => {
  const first = Number(readFileSync(join(folderOf(cluster, node), 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  // Before the others, which it would start again.
  signal(first, 'SIGSTOP');
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').split(' ').filter(Boolean);
  const frozen = [...children.map(Number), first];
  for (const pid of frozen) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of frozen) signal(pid, 'SIGCONT');
  };
};
