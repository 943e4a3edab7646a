// What `firsthand doctor` says about a cluster, and that what it advises helps.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { firsthand } from '../fixtures/command.ts';
import { asking, newDatabase } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { urlsOf } from './databases.ts';

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

let databaseURL: string;
let store: Store;
beforeAll(async () => {
  databaseURL = await newDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
});
afterAll(() => store.close());

const examine = async (): Promise<Map<string, Finding>> => {
  const { stdout } = await firsthand(['doctor', '--json'], { DATABASE_URL: databaseURL });
  const { finding } = JSON.parse(stdout) as { finding: Finding[] };
  return new Map(finding.map((each) => [each.name, each]));
};
const advice = (finding: Finding | undefined) => /SELECT \S+\(.*?\)(?= )/.exec(finding?.detail ?? '')?.[0] ?? '';

const shardOf = async ({ account }: Site) => {
  const [found] = await asking<{ shard: string }>(
    databaseURL,
    `SELECT get_shard_id_for_distribution_column('account_position', ${account}) AS shard`,
  );
  return found?.shard;
};

test('a cluster on which all is well: which worker has how much', async () => {
  const site = await createSite(store);
  await site.server.log({});
  const found = await examine();
  expect(found.get('workers')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^2: \S+:\d+ has 16 parts, \d{7,} bytes; \S+:\d+ has 16 parts, \d{7,} bytes$/),
  });
  expect(found.get('durability')).toMatchObject({ ok: true });
  expect(found.get('spread tables')).toMatchObject({ ok: true, detail: 'all' });
  expect(found.get('balance')).toMatchObject({ ok: true, detail: 'the rebalancer would move nothing' });
  expect(found.get('largest account')).toBeUndefined();
  expect(found.get('erasures')).toMatchObject({ ok: true });
});

test('workers that log statements with values of contacts, until that is turned off', async () => {
  expect((await examine()).get('logs')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^\S+:\d+, \S+:\d+: .*ALTER ROLE … SET log_min_error_statement = panic$/),
  });
  const name = new URL(databaseURL).pathname.slice(1);
  for (const url of await urlsOf(databaseURL, name))
    await asking(url, `ALTER DATABASE ${name} SET log_min_error_statement = panic`);
  await expect.poll(async () => (await examine()).get('logs')).toMatchObject({ ok: true });
});

test('workers that have far more than others: what the rebalancer would move, until it has', async () => {
  const moves = await asking<{ shard: string; name: string; port: number; to: string; toPort: number }>(
    databaseURL,
    `SELECT shardid AS shard, here.nodename AS name, here.nodeport AS port, there.nodename AS to, there.nodeport AS "toPort"
     FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node here USING (groupid)
       JOIN pg_dist_node there ON there.groupid > 0 AND there.groupid <> here.groupid
     WHERE logicalrelid = 'account_position'::regclass AND here.groupid = (SELECT max(groupid) FROM pg_dist_node)
     ORDER BY shardid LIMIT 4`,
  );
  for (const { shard, name, port, to, toPort } of moves)
    await asking(
      databaseURL,
      `SELECT citus_move_shard_placement(${shard}, '${name}', ${port}, '${to}', ${toPort}, 'block_writes')`,
    );
  const { balance, workers } = Object.fromEntries(await examine());
  expect(workers?.detail).toMatch(/20 parts.* 12 parts/);
  expect(balance).toMatchObject({ ok: false, detail: expect.stringMatching(/would move \d+ parts/) });
  await asking(databaseURL, advice(balance));
  await asking(databaseURL, 'SELECT citus_rebalance_wait()');
  expect((await examine()).get('balance')).toMatchObject({ ok: true });
});

test('an account that takes more than an even share: it gets shards of its own, and serves as before', async () => {
  const large = await createSite(store);
  const shard = await shardOf(large);
  let beside = await createSite(store);
  while ((await shardOf(beside)) !== shard) beside = await createSite(store);
  const text = () => randomBytes(1_500).toString('base64');
  for (let sent = 0; sent < 40; sent += 1)
    await large.server.log(
      ...Array.from({ length: 100 }, () => ({
        attributes: Array.from({ length: 20 }, (_, nth) => [`text-${nth}`, text()] as const),
      })),
    );
  const before = await examine();
  const found = before.get('largest account');
  expect(found).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      new RegExp(`^${large.accountUUID}: its part takes \\d+ bytes .*, with \\d+ other accounts: `),
    ),
  });
  await asking(databaseURL, advice(found));
  expect((await examine()).get('largest account')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(new RegExp(`^${large.accountUUID}: .* it is alone there`)),
  });
  expect(await shardOf(large)).not.toBe(await shardOf(beside));
  await large.server.log({ eventUUID: 'event-of-large' });
  await beside.server.log({ eventUUID: 'event-of-beside' });
  expect(await large.events()).toHaveLength(4_001);
  expect((await beside.events()).map(({ eventUUID }) => eventUUID)).toEqual(['event-of-beside']);
});

test('a worker that is lost: it is named, and no more is asked', async () => {
  const [, worker] = await urlsOf(databaseURL, new URL(databaseURL).pathname.slice(1));
  const [{ name } = { name: '' }] = await asking<{ name: string }>(databaseURL, 'SELECT current_database() AS name');
  const besideIt = Object.assign(new URL(worker as string), { pathname: '/postgres' }).href;
  await asking(
    besideIt,
    `ALTER DATABASE ${name} ALLOW_CONNECTIONS false;
     SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`,
  );
  try {
    const found = await examine();
    expect(found.get('workers')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/worker-\d:\d+ cannot be reached/),
    });
    expect(found.has('erasures')).toBe(false);
  } finally {
    await asking(besideIt, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }
});
