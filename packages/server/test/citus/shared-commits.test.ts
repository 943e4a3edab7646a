// Accounts whose rows are in the same shards share commits, also after a shard was divided.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { asking, newDatabase } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { nextStart } from '../fixtures/store.ts';
import { isTwoPhase, logRemoteCommands, readShardParts, sentWhile, spreadStatements } from './tools/remote-commands.ts';

/** So many that several are in each shard. */
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

/** All at once, with a user and an event of the same names in each account. */
const logAll = async (name: string) => {
  const logged = await Promise.all(
    sites.map(({ server }) => server.log({ eventUUID: name, userUUID: `user-${name}` })),
  );
  expect(logged).toEqual(sites.map(() => [{ kept: true }]));
};

const expectOf = async (...names: readonly string[]) => {
  for (const site of sites) {
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(names);
    expect(await site.count()).toBe(names.length);
  }
};

const shardsOf = () =>
  asking<{ account: number; shard: string }>(
    databaseURL,
    `SELECT account, get_shard_id_for_distribution_column('account_position', account) AS shard FROM account ORDER BY account`,
  );

test('accounts that are in the same shards share commits, and each has what it was sent', async () => {
  const parts = await readShardParts(databaseURL);
  await logAll('event-first');
  const { sent } = await sentWhile(() => logAll('event-second'));
  const commits = sent.filter(({ text }) => text === 'COMMIT').length;
  const shards = new Set((await shardsOf()).map(({ shard }) => shard)).size;
  expect(shards).toBeLessThan(count / 2);
  expect(commits).toBeGreaterThanOrEqual(shards);
  expect(commits).toBeLessThan(count / 2);
  expect(sent.filter(isTwoPhase)).toEqual([]);
  expect(spreadStatements(sent, parts)).toEqual([]);
  await expectOf('event-first', 'event-second');
});

test('events are stored once when an account gets shards of its own', async () => {
  const [first] = sites as [Site];
  await asking(
    databaseURL,
    `SELECT isolate_tenant_to_new_shard('account_position', ${first.account}, 'CASCADE', shard_transfer_mode := 'block_writes')`,
  );
  await logAll('event-third');
  await logAll('event-fourth');
  await expectOf('event-first', 'event-second', 'event-third', 'event-fourth');
});
