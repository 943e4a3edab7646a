// Creates empty databases for tests on a Citus cluster, distributed over its nodes.
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { migrateDatabase } from '../../src/store/postgres/database/citus.ts';
import { querySQL } from '../fixtures/postgres/sql.ts';
import { joinNodes } from './cluster.ts';

/** A database's URLs on all nodes, with the coordinator first. */
type URLs = readonly [coordinator: string, ...workers: string[]];

/** Returns the URLs of a database on the coordinator and on each registered worker. */
export const listDatabaseURLs = async (clusterURL: string, database: string): Promise<URLs> => {
  const workers = await querySQL<{ name: string; port: number }>(
    clusterURL,
    'SELECT nodename AS name, nodeport AS port FROM pg_dist_node WHERE groupid > 0 ORDER BY groupid',
  );
  if (workers.length === 0) throw new Error('the cluster at TEST_CITUS_URL has no workers (citus_add_node)');
  const { username, password, search } = new URL(clusterURL);
  const login = password ? `${username}:${password}` : username;
  const at = ({ name, port }: { name: string; port: number }) =>
    `postgres://${login}@${encodeURIComponent(name)}:${port}/${database}${search}`;
  return [Object.assign(new URL(clusterURL), { pathname: `/${database}` }).href, ...workers.map(at)];
};

const baseOf = (url: string) => Object.assign(new URL(url), { pathname: '/postgres' }).href;

/** Runs SQL on each node separately, because Citus does not propagate commands about databases. */
const onEach = async (urls: URLs, sql: string): Promise<void> => {
  await Promise.all(urls.map((url) => querySQL(baseOf(url), sql)));
};

/** Runs work in only one process at a time. */
const runExclusively = async (clusterURL: string, work: () => Promise<void>): Promise<void> => {
  const client = new pg.Client(clusterURL);
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext('the databases of tests'))");
    await work();
  } finally {
    await client.end();
  }
};

/**
 * Closes a template, because PostgreSQL requires that it has no connections, including those of Citus's own process.
 */
const closeSQL = (name: string) => `
  ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false;
  SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`;

/** Closes a database so that it can be copied. Checks several times, because another node might be about to connect. */
const closeTemplate = async (urls: URLs, name: string): Promise<void> => {
  const isUsed = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}'`;
  for (let quiet = 0; quiet < 3; ) {
    await onEach(urls, closeSQL(name));
    await wait(200);
    const used = await Promise.all(urls.map((url) => querySQL(baseOf(url), isUsed)));
    quiet = used.flat().length === 0 ? quiet + 1 : 0;
  }
};

/** Creates a database without tables on all nodes. */
export const createBareDatabase = async (clusterURL: string, name: string): Promise<URLs> => {
  const urls = await listDatabaseURLs(clusterURL, name);
  await onEach(urls, `CREATE DATABASE ${name}`);
  await joinNodes(urls);
  return urls;
};

/** Creates a database on all nodes, and distributes its tables. */
export const distributeDatabase = async (clusterURL: string, name: string): Promise<string> => {
  const [coordinator] = await createBareDatabase(clusterURL, name);
  await migrateDatabase(coordinator, { citus: true });
  return coordinator;
};

/** Creates the template for a run's databases, because distributing tables takes a long time. */
const makeTemplate = async (clusterURL: string, name: string): Promise<void> => {
  await runExclusively(clusterURL, async () => {
    const exists = `SELECT 1 FROM pg_database WHERE datname = '${name}' AND NOT datallowconn`;
    if ((await querySQL(clusterURL, exists)).length > 0) return;
    await distributeDatabase(clusterURL, name);
    await closeTemplate(await listDatabaseURLs(clusterURL, name), name);
  });
};

/** Returns the prefix of a run's databases. `run` identifies a test run, because the sources of two runs can differ. */
const prefixOf = (run: string) => `test_${createHash('sha256').update(run).digest('hex').slice(0, 12)}`;

const templates = new Map<string, Promise<void>>();
let createdCount = 0;

/** Once a test file has created this many newer databases, none of its tests still uses an older one. */
const maxInUse = 20;

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Lists databases whose test file, or whose test in this file, has ended. */
const listEnded = async (clusterURL: string, run: string): Promise<string[]> => {
  const rows = await querySQL<{ name: string }>(
    clusterURL,
    `SELECT datname AS name FROM pg_database WHERE datname LIKE '${prefixOf(run)}%' AND datallowconn
       AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = pg_database.datname
         AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%')`,
  );
  return rows.flatMap(({ name }) => {
    const [, pid, nth] = /_(\d+)_(\d+)$/.exec(name) ?? [];
    if (pid === undefined) return [];
    const isInUse = isRunning(Number(pid)) && (Number(pid) !== process.pid || Number(nth) > createdCount - maxInUse);
    return isInUse ? [] : [name];
  });
};

/**
 * Closes databases of tests that have ended, because each database on the cluster at TEST_CITUS_URL costs a process
 * with nine connections per node.
 */
const closeEnded = async (clusterURL: string, run: string): Promise<void> => {
  if ((await listEnded(clusterURL, run)).length === 0) return;
  // Two processes that closed the same database concurrently would fail.
  await runExclusively(clusterURL, async () => {
    for (const name of await listEnded(clusterURL, run))
      await onEach(await listDatabaseURLs(clusterURL, name), closeSQL(name));
  });
};

/** Creates a distributed database, and returns its URL on the coordinator. */
export const createClusterDatabase = async (clusterURL: string, run: string): Promise<string> => {
  const template = `${prefixOf(run)}_template`;
  if (!templates.has(template)) templates.set(template, makeTemplate(clusterURL, template));
  await templates.get(template);
  await closeEnded(clusterURL, run);
  createdCount += 1;
  const name = `${prefixOf(run)}_${process.pid}_${createdCount}`;
  const urls = await listDatabaseURLs(clusterURL, name);
  await onEach(urls, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return urls[0];
};

/** Drops a run's databases. */
export const dropClusterDatabases = async (clusterURL: string, run: string): Promise<void> => {
  const urls = await listDatabaseURLs(clusterURL, 'postgres');
  for (const url of urls) {
    const rows = await querySQL<{ name: string }>(
      url,
      `SELECT datname AS name FROM pg_database WHERE datname LIKE '${prefixOf(run)}%'`,
    );
    for (const { name } of rows) await querySQL(url, `DROP DATABASE ${name} WITH (FORCE)`);
  }
};
