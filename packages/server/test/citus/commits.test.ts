// Tests that each account commits on one shard in one phase, even when shards are split, moved or blocked.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDatabase, querySQL } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, nextStart } from '../fixtures/store.ts';
import {
  isTwoPhase,
  listMultiShardStatements,
  logRemoteCommands,
  type RemoteCommand,
  readShardParts,
  recordCommands,
} from './tools/remote-commands.ts';
import { moveShards } from './tools/shard-moves.ts';

/** The number of accounts: enough for several in each shard. */
const count = 96;

let databaseURL: string;
let store: Store;
let sites: Site[];
beforeAll(async () => {
  databaseURL = await newDatabase();
  await logRemoteCommands(databaseURL);
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  const time = nextStart();
  sites = [];
  for (let nth = 0; nth < count; nth += 1) sites.push(await createSite(store, { time }));
});
afterAll(() => store.close());

/** Logs an event in all accounts concurrently, with the same eventUUID and userUUID in each. */
const logAll = async (name: string) => {
  const logged = await Promise.all(
    sites.map(({ server }) => server.log({ eventUUID: name, userUUID: `user-${name}` })),
  );
  expect(logged).toEqual(sites.map(() => [{ kept: true }]));
};

const expectEvents = async (...names: readonly string[]) => {
  for (const site of sites) {
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(names);
    expect(await site.count()).toBe(names.length);
  }
};

/** Returns the number of commits that the coordinator sends to workers while the work runs. */
const commitsWhile = async (work: () => Promise<unknown>): Promise<number> => {
  const { sent } = await recordCommands(work);
  expect(sent.filter(isTwoPhase)).toEqual([]);
  expect(listMultiShardStatements(sent, await readShardParts(databaseURL))).toEqual([]);
  return sent.filter(({ text }) => text === 'COMMIT').length;
};

test('commits each account’s concurrent writes on its own shard', async () => {
  await logAll('event-first');
  const commits = await commitsWhile(() => logAll('event-second'));
  // Allows a few more, because maintenance adds commits for its own reads.
  expect(commits).toBeGreaterThanOrEqual(count);
  await expectEvents('event-first', 'event-second');
});

test('stores events only once when an account gets its own shards', async () => {
  const [first] = sites as [Site];
  await querySQL(
    databaseURL,
    `SELECT isolate_tenant_to_new_shard('account_position', ${first.account}, 'CASCADE', shard_transfer_mode := 'block_writes')`,
  );
  await logAll('event-third');
  await logAll('event-fourth');
  await expectEvents('event-first', 'event-second', 'event-third', 'event-fourth');
});

test('commits on the new worker after an account has moved', async () => {
  const [first] = sites as [Site];
  await moveShards(databaseURL, first.account);
  await logAll('event-fifth');
  expect(await commitsWhile(() => logAll('event-sixth'))).toBeGreaterThanOrEqual(count);
  await expectEvents('event-first', 'event-second', 'event-third', 'event-fourth', 'event-fifth', 'event-sixth');
});

test('does not let a blocked account delay others', async () => {
  const [first, ...others] = sites as [Site, ...Site[]];
  const holder = new pg.Client(databaseURL);
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT * FROM begin_writing($1, true, NULL)', [first.account]);
    let isStored = false;
    const blocked = first.server.log({ eventUUID: 'event-seventh' }).then((outcomes) => {
      isStored = true;
      return outcomes;
    });
    const logged = await Promise.all(others.map(({ server }) => server.log({ eventUUID: 'event-seventh' })));
    expect(logged).toEqual(others.map(() => [{ kept: true }]));
    expect(isStored).toBe(false);
    await holder.query('ROLLBACK');
    expect(await blocked).toEqual([{ kept: true }]);
  } finally {
    await holder.end();
  }
});

test('starts a new day only once for each account', async () => {
  const [first, ...others] = sites as [Site, ...Site[]];
  const logNextDay = ({ server, time }: Site) => server.logAt(time + day, { eventUUID: 'event-of-midnight' });
  // Logs the first event, which creates the partitions.
  expect(await logNextDay(first)).toEqual([{ kept: true }]);
  const commits = await commitsWhile(() => Promise.all(others.map(logNextDay)));
  // Expects two commits per account: one that starts the day, and one for the event.
  expect(commits).toBeGreaterThanOrEqual(2 * others.length);
  for (const site of sites)
    expect((await site.events()).filter(({ eventUUID }) => eventUUID === 'event-of-midnight')).toHaveLength(1);
});

/** Returns the number of connections from each session to each node. */
const connectionsOf = (sent: readonly RemoteCommand[]): number[] => {
  const connections = new Map<string, Set<string>>();
  for (const { session, node, connection } of sent) {
    const pair = `${session} to ${node}`;
    connections.set(pair, (connections.get(pair) ?? new Set()).add(connection));
  }
  return [...connections.values()].map(({ size }) => size);
};

test('uses one connection per node for statements on all shards', async () => {
  const [{ server, time }] = sites as [Site];
  const { sent } = await recordCommands(async () => {
    const other = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
    expect(await server.logAt(time + 31 * day, { eventUUID: 'event-of-another-month' })).toEqual([{ kept: true }]);
    await other.close();
  });
  const sentWith = (part: string) => sent.filter(({ text }) => text.includes(part)).length;
  expect(sentWith('DISTINCT account FROM public.erasure_')).toBeGreaterThanOrEqual(32);
  expect(sentWith('ATTACH PARTITION')).toBeGreaterThanOrEqual(2 * 32);
  expect(Math.max(...connectionsOf(sent))).toBe(1);
});
