// Tests that no number is drawn twice: the coordinator draws numbers that only workers commit, so after a crash it may
// have lost its last draws. If it drew a number again, a new event would come before positions that streams and pages
// have already passed.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { nanoid } from 'nanoid';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { copyStore } from '../../../src/store/open.ts';
import { getDatabaseURL, stopPostgres } from '../../fixtures/postgres/server.ts';
import { querySQL } from '../../fixtures/postgres/sql.ts';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { startServerProcess, stopServerProcess, withoutLimits } from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { reusingLostNumbers } from '../../weaknesses/store.ts';
import { startCoordinatorStandby } from '../cluster.ts';
import { type Account, useOwnCluster } from '../tools/own-cluster.ts';
import { follow } from '../tools/stream-follower.ts';

const crashes = times({ quick: 6, full: 40 });
const weakenedCrashes = 6;
const timeoutMilliseconds = 60_000;
const userUUID = 'of_a_lost_coordinator';

// Starts a cluster in which a crash loses everything that a crash can lose.
const cluster = useOwnCluster({ coordinator: 'wal_writer_delay = 10s\nautovacuum = off\n' });

/** Ways to end all of PostgreSQL's processes at once. */
const waysToCrash = {
  async all() {
    await cluster.stop('coordinator');
    await cluster.start('coordinator');
  },
  async one(databaseURL: string) {
    const client = new pg.Client(databaseURL);
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0].pid, 'SIGKILL');
    await client.end();
  },
};
const ways = Object.entries(waysToCrash);

/** Draws numbers without a commit, like a transaction that the crash interrupts. The next draws then need no sync. */
const drawUnsynced = async (databaseURL: string): Promise<void> => {
  await querySQL(databaseURL, 'CHECKPOINT');
  await querySQL(databaseURL, "BEGIN; SELECT nextval('event_order'), nextval('owner_change_number'); ROLLBACK");
};

/** Starts a server, and returns functions to log and read a user's events. */
const startLogging = async (databaseURL: string, { token }: Account, main?: string) => {
  const env = { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent', RATE_LIMIT: withoutLimits() };
  const server = await startServerProcess('', await freePort(), { main, env });
  const headers = { Authorization: `Bearer ${token}` };
  const send = (path: string, body?: object) =>
    fetch(`${server.url}${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  const read = async (query: string) =>
    (await (await send(`/event/getEvent?${query}`)).json()) as { event?: { eventUUID: string }[]; nextCursor: string };
  /** The statuses of all responses. */
  const statuses = new Set<number>();
  return {
    url: server.url,
    statuses,
    stop: async () => expect(await stopServerProcess(server)).toBe(0),
    async kill(): Promise<void> {
      server.process.kill('SIGKILL');
      await server.ended;
    },
    /** Sends a request until it succeeds. */
    async insist(path: string, body: object): Promise<void> {
      const began = performance.now();
      for (let status = 0; status !== 200; ) {
        ({ status } = await send(path, body));
        statuses.add(status);
        if (performance.now() - began > timeoutMilliseconds) throw new Error(`${path} keeps failing`);
        if (status !== 200) await wait(50);
      }
    },
    async log(): Promise<string> {
      const eventUUID = nanoid();
      await this.insist('/event/logEvent', { userUUID, eventID: 1, eventUUID });
      return eventUUID;
    },
    read,
    /** Returns the newest event. */
    newest: async () => (await read('order=desc&limit=1')).event?.[0]?.eventUUID,
  };
};
type Logging = Awaited<ReturnType<typeof startLogging>>;

/** Follows an account from its first event. */
const followFrom = async ({ url, read }: Logging, { token }: Account) => {
  const { nextCursor } = await read('order=asc&limit=1');
  const follower = follow(url, token, nextCursor);
  onTestFinished(() => follower.stop());
  return (eventUUID: string) => follower.received.has(`${userUUID} ${eventUUID}`);
};

/** Waits a few seconds until a stream has sent all of these events, and returns the number of missing events. */
const countMissing = async (
  eventUUIDs: readonly string[],
  isReceived: (eventUUID: string) => boolean,
): Promise<number> => {
  const count = () => eventUUIDs.filter((eventUUID) => !isReceived(eventUUID)).length;
  for (let waited = 0; count() > 0 && waited < 5_000; waited += 100) await wait(100);
  return count();
};

/**
 * Repeats the work if a new day has started in the meantime. Pages order by day first, so an event on the new day would
 * be the newest.
 */
const onOneDay = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  const today = () => new Date().toISOString().slice(0, 10);
  const day = today();
  const value = await work();
  return today() === day ? value : work();
};

const crashRepeatedly = async (count: number, main?: string) => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [account] = accounts as [Account];
  const server = await startLogging(databaseURL, account, main);
  await server.log();
  await server.log();
  const isReceived = await followFrom(server, account);
  const expected: string[] = [];
  const outOfOrder: string[] = [];
  for (let crash = 0; crash < count; crash += 1) {
    await drawUnsynced(databaseURL);
    const earlier = await server.log();
    // Waits until the stream has passed this event.
    await expect.poll(() => isReceived(earlier), { timeout: timeoutMilliseconds }).toBe(true);
    const [name, way] = ways[crash % ways.length] as (typeof ways)[number];
    await way(databaseURL);
    const later = await server.log();
    expected.push(later);
    if ((await server.newest()) !== later) outOfOrder.push(name);
  }
  const missing = await countMissing(expected, isReceived);
  await server.stop();
  return { outOfOrder, missing };
};

test(`never draws a number twice despite ${crashes} coordinator crashes`, async (context) => {
  expect(await crashRepeatedly(crashes)).toEqual({ outOfOrder: [], missing: 0 });
  const main = changeServer(cluster.folder(), 'drawing_again', reusingLostNumbers);
  const { outOfOrder, missing } = await onOneDay(() => crashRepeatedly(weakenedCrashes, main));
  expect(new Set(outOfOrder)).toEqual(new Set(ways.map(([name]) => name)));
  report(context, {
    fault: 'Citus: a crash of the coordinator, which loses the last sequence numbers that it assigned',
    count: `${crashes} crashes, of all processes or of one, before these numbers were synced`,
    result: 'each event comes after all earlier ones, in pages and in the stream',
    weakened: `skips no numbers: ${outOfOrder.length} events before earlier ones, ${missing} missing from the stream in ${weakenedCrashes} crashes`,
  });
});

test('can copy the database to a usable file after the coordinator crashes', async () => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [account] = accounts as [Account];
  const server = await startLogging(databaseURL, account);
  await server.log();
  await drawUnsynced(databaseURL);
  const last = await server.log();
  await server.kill();
  await waysToCrash.all();
  const to = `sqlite:${join(cluster.folder(), 'copied.db')}`;
  await copyStore({ from: databaseURL, to, onProgress: () => {} });
  const copied = await startLogging(to, account);
  const newest = await copied.newest();
  await copied.stop();
  expect(newest).toBe(last);
});

test('serves reads after a crash even if the coordinator’s synchronous standby is unavailable', async () => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [account] = accounts as [Account];
  const server = await startLogging(databaseURL, account);
  const last = await server.log();
  const setStandbys = async (names: string) => {
    await querySQL(databaseURL, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await querySQL(databaseURL, 'SELECT pg_reload_conf()');
  };
  await setStandbys('away');
  try {
    await waysToCrash.all();
    await expect.poll(() => server.newest(), { timeout: timeoutMilliseconds }).toBe(last);
  } finally {
    await setStandbys('');
    await server.stop();
  }
});

/** Promotes a coordinator standby that lags behind. */
const failOver = async (main?: string) => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [account] = accounts as [Account];
  let people = 0;
  const createContacts = async (server: Logging) => {
    for (const last = people + 40; people < last; people += 1) {
      const contact = { contactEmailaddress: `person_${people}@example.com`, contactProfileID: 'customer' };
      await server.insist('/contact/createContact', { userUUID: nanoid(), ...contact });
    }
  };
  const before = await startLogging(databaseURL, account);
  await before.log();
  const standby = await startCoordinatorStandby(cluster.cluster());
  const endStandby = () => stopPostgres(standby, 'immediate', { bin: process.env.CITUS_BIN as string });
  onTestFinished(endStandby);
  // Disconnects the standby, so that it also doesn't learn that the coordinator skips numbers after the crash.
  const standbyURL = getDatabaseURL(standby, 'postgres');
  await querySQL(standbyURL, "ALTER SYSTEM SET primary_conninfo = 'host=/nowhere'");
  await querySQL(standbyURL, 'SELECT pg_reload_conf()');
  await expect.poll(() => querySQL(standbyURL, 'SELECT FROM pg_stat_wal_receiver')).toEqual([]);
  await waysToCrash.all();
  // Draws more numbers than the standby has received: the WAL record of the first draw covers 32 numbers.
  let earlier = '';
  for (let nth = 0; nth < 40; nth += 1) earlier = await before.log();
  await createContacts(before);
  await before.stop();
  await cluster.stop('coordinator');

  const promotedURL = getDatabaseURL(standby, new URL(databaseURL).pathname.slice(1));
  await querySQL(promotedURL, 'SELECT pg_promote()');
  await querySQL(
    promotedURL,
    `SELECT citus_update_node(nodeid, '${standby}', 5432) FROM pg_dist_node WHERE groupid = 0`,
  );
  const after = await startLogging(promotedURL, account, main);
  const isReceived = await followFrom(after, account);
  const later = await after.log();
  const isInOrder = (await after.newest()) === later;
  await createContacts(after);
  const missing = await countMissing([earlier, later], isReceived);
  await after.stop();
  await endStandby();
  await cluster.start('coordinator');
  return { isInOrder, missing, statuses: [...after.statuses].sort() };
};

test('never draws a number twice, even on a lagging standby that replaces the coordinator', async (context) => {
  expect(await failOver()).toEqual({ isInOrder: true, missing: 0, statuses: [200] });
  const main = changeServer(cluster.folder(), 'drawing_again_on_standby', reusingLostNumbers);
  const weakened = await onOneDay(() => failOver(main));
  expect(weakened.isInOrder).toBe(false);
  report(context, {
    fault: 'Citus: a lagging standby replaces the coordinator',
    count: 'one crash; the standby lags by 40 events and 40 contacts',
    result: 'each event comes after all earlier ones, in pages and in the stream; 40 more contacts, each 200',
    weakened: `skips no numbers: an event before earlier ones, ${weakened.missing} missing from the stream`,
  });
});
