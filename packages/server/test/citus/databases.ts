// Databases for tests on a Citus cluster, each new, empty and spread over its nodes.
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { migrateDatabase } from '../../src/store/postgres/database/citus.ts';
import { asking } from '../fixtures/postgres/asking.ts';
import { joinNodes } from './cluster.ts';

/** The same database on each node, the coordinator first. */
type URLs = readonly [coordinator: string, ...workers: string[]];

/** The URLs of a database on the coordinator and on each worker that it knows. */
export const urlsOf = async (clusterURL: string, database: string): Promise<URLs> => {
  const workers = await asking<{ name: string; port: number }>(
    clusterURL,
    'SELECT nodename AS name, nodeport AS port FROM pg_dist_node WHERE groupid > 0 ORDER BY groupid',
  );
  if (workers.length === 0) throw new Error('the cluster of TEST_CITUS_URL has no workers (citus_add_node)');
  const { username, password, search } = new URL(clusterURL);
  const login = password ? `${username}:${password}` : username;
  const at = ({ name, port }: { name: string; port: number }) =>
    `postgres://${login}@${encodeURIComponent(name)}:${port}/${database}${search}`;
  return [Object.assign(new URL(clusterURL), { pathname: `/${database}` }).href, ...workers.map(at)];
};

const baseOf = (url: string) => Object.assign(new URL(url), { pathname: '/postgres' }).href;

/** Citus notices that it leaves the other nodes alone. */
const onEach = async (urls: URLs, sql: string): Promise<void> => {
  await Promise.all(urls.map((url) => asking(baseOf(url), sql)));
};

/** Does what one process at a time does. */
const alone = async (clusterURL: string, work: () => Promise<void>): Promise<void> => {
  const client = new pg.Client(clusterURL);
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext('the databases of tests'))");
    await work();
  } finally {
    await client.end();
  }
};

/** What is copied must have no connections, those of Citus's own process included. */
const closing = (name: string) => `
  ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false;
  SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`;

/** Closes a database to copy from. A connection that another node was just making is not seen at once. */
const closeTemplate = async (urls: URLs, name: string): Promise<void> => {
  const isUsed = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}'`;
  for (let quiet = 0; quiet < 3; ) {
    await onEach(urls, closing(name));
    await wait(200);
    const used = await Promise.all(urls.map((url) => asking(baseOf(url), isUsed)));
    quiet = used.flat().length === 0 ? quiet + 1 : 0;
  }
};

/** Makes a database on all nodes, in which no table is. */
export const makeBareDatabase = async (clusterURL: string, name: string): Promise<URLs> => {
  const urls = await urlsOf(clusterURL, name);
  await onEach(urls, `CREATE DATABASE ${name}`);
  await joinNodes(urls);
  return urls;
};

/** Makes the database that all of a run are copied from: to spread one takes long. */
const makeTemplate = async (clusterURL: string, name: string): Promise<void> => {
  await alone(clusterURL, async () => {
    const isMade = `SELECT 1 FROM pg_database WHERE datname = '${name}' AND NOT datallowconn`;
    if ((await asking(clusterURL, isMade)).length > 0) return;
    const urls = await makeBareDatabase(clusterURL, name);
    await migrateDatabase(urls[0], { citus: true });
    await closeTemplate(urls, name);
  });
};

/** `run` names this run of the tests: its sources may differ from another's. */
const prefixOf = (run: string) => `test_${createHash('sha256').update(run).digest('hex').slice(0, 12)}`;

const templates = new Map<string, Promise<void>>();
let made = 0;

/** So many databases later, a test of the same file has done with its own. */
const maxInUse = 20;

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The databases of files that have ended, and of tests of this file that have. */
const listEnded = async (clusterURL: string, run: string): Promise<string[]> => {
  const rows = await asking<{ name: string }>(
    clusterURL,
    `SELECT datname AS name FROM pg_database WHERE datname LIKE '${prefixOf(run)}%' AND datallowconn
       AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = pg_database.datname
         AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%')`,
  );
  return rows.flatMap(({ name }) => {
    const [, pid, nth] = /_(\d+)_(\d+)$/.exec(name) ?? [];
    if (pid === undefined) return [];
    const isInUse = isRunning(Number(pid)) && (Number(pid) !== process.pid || Number(nth) > made - maxInUse);
    return isInUse ? [] : [name];
  });
};

/** Closes these, because Citus runs a process on each node for every one, which has nine connections on the cluster of TEST_CITUS_URL. */
const closeEnded = async (clusterURL: string, run: string): Promise<void> => {
  if ((await listEnded(clusterURL, run)).length === 0) return;
  // Two processes that close the same database at once fail.
  await alone(clusterURL, async () => {
    for (const name of await listEnded(clusterURL, run)) await onEach(await urlsOf(clusterURL, name), closing(name));
  });
};

/** Makes a database that is spread; answers its URL on the coordinator. */
export const newClusterDatabase = async (clusterURL: string, run: string): Promise<string> => {
  const template = `${prefixOf(run)}_template`;
  if (!templates.has(template)) templates.set(template, makeTemplate(clusterURL, template));
  await templates.get(template);
  await closeEnded(clusterURL, run);
  made += 1;
  const name = `${prefixOf(run)}_${process.pid}_${made}`;
  const urls = await urlsOf(clusterURL, name);
  await onEach(urls, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return urls[0];
};

/** Drops what a run has made. */
export const dropClusterDatabases = async (clusterURL: string, run: string): Promise<void> => {
  const urls = await urlsOf(clusterURL, 'postgres');
  for (const url of urls) {
    const rows = await asking<{ name: string }>(
      url,
      `SELECT datname AS name FROM pg_database WHERE datname LIKE '${prefixOf(run)}%'`,
    );
    for (const { name } of rows) await asking(url, `DROP DATABASE ${name} WITH (FORCE)`);
  }
};
