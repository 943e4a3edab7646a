// Tests what `firsthand doctor` finds out about a cluster, and that its advice works.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { firsthand } from '../fixtures/command.ts';
import { newDatabase, querySQL } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { listDatabaseURLs } from './databases.ts';

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
  const [found] = await querySQL<{ shard: string }>(
    databaseURL,
    `SELECT get_shard_id_for_distribution_column('account_position', ${account}) AS shard`,
  );
  return found?.shard;
};

test('reports the parts and bytes on each worker in a healthy cluster', async () => {
  const site = await createSite(store);
  await site.server.log({});
  const findings = await examine();
  expect(findings.get('workers')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^2: \S+:\d+ has 16 parts, \d{7,} bytes; \S+:\d+ has 16 parts, \d{7,} bytes$/),
  });
  expect(findings.get('durability')).toMatchObject({ ok: true });
  expect(findings.get('distributed tables')).toMatchObject({ ok: true, detail: 'all' });
  expect(findings.get('balance')).toMatchObject({ ok: true, detail: 'the rebalancer would move nothing' });
  expect(findings.get('largest account')).toBeUndefined();
  expect(findings.get('erasures')).toMatchObject({ ok: true });
});

test('reports workers that log statements with contacts’ values', async () => {
  expect((await examine()).get('logs')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^\S+:\d+, \S+:\d+: .*ALTER ROLE … SET log_min_error_statement = panic$/),
  });
  const name = new URL(databaseURL).pathname.slice(1);
  for (const url of await listDatabaseURLs(databaseURL, name))
    await querySQL(url, `ALTER DATABASE ${name} SET log_min_error_statement = panic`);
  await expect.poll(async () => (await examine()).get('logs')).toMatchObject({ ok: true });
});

test('reports the rebalancer’s pending moves until they are done', async () => {
  const moves = await querySQL<{ shard: string; name: string; port: number; to: string; toPort: number }>(
    databaseURL,
    `SELECT shardid AS shard, here.nodename AS name, here.nodeport AS port, there.nodename AS to, there.nodeport AS "toPort"
     FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node here USING (groupid)
       JOIN pg_dist_node there ON there.groupid > 0 AND there.groupid <> here.groupid
     WHERE logicalrelid = 'account_position'::regclass AND here.groupid = (SELECT max(groupid) FROM pg_dist_node)
     ORDER BY shardid LIMIT 4`,
  );
  for (const { shard, name, port, to, toPort } of moves)
    await querySQL(
      databaseURL,
      `SELECT citus_move_shard_placement(${shard}, '${name}', ${port}, '${to}', ${toPort}, 'block_writes')`,
    );
  const { balance, workers } = Object.fromEntries(await examine());
  expect(workers?.detail).toMatch(/20 parts.* 12 parts/);
  expect(balance).toMatchObject({ ok: false, detail: expect.stringMatching(/would move \d+ parts/) });
  await querySQL(databaseURL, advice(balance));
  await querySQL(databaseURL, 'SELECT citus_rebalance_wait()');
  expect((await examine()).get('balance')).toMatchObject({ ok: true });
});

test('advises how to give an oversized account its own shards, and the advice works', async () => {
  const large = await createSite(store);
  const shard = await shardOf(large);
  let neighbor = await createSite(store);
  while ((await shardOf(neighbor)) !== shard) neighbor = await createSite(store);
  const text = () => randomBytes(1_500).toString('base64');
  for (let sent = 0; sent < 40; sent += 1)
    await large.server.log(
      ...Array.from({ length: 100 }, () => ({
        attributes: Array.from({ length: 20 }, (_, nth) => [`text-${nth}`, text()] as const),
      })),
    );
  const before = await examine();
  const finding = before.get('largest account');
  expect(finding).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      new RegExp(`^${large.accountUUID}: its part takes \\d+ bytes .*, with \\d+ other accounts: `),
    ),
  });
  await querySQL(databaseURL, advice(finding));
  expect((await examine()).get('largest account')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(new RegExp(`^${large.accountUUID}: .* it is alone there`)),
  });
  expect(await shardOf(large)).not.toBe(await shardOf(neighbor));
  await large.server.log({ eventUUID: 'event-of-large' });
  await neighbor.server.log({ eventUUID: 'event-of-neighbor' });
  expect(await large.events()).toHaveLength(4_001);
  expect((await neighbor.events()).map(({ eventUUID }) => eventUUID)).toEqual(['event-of-neighbor']);
});

test('names an unreachable worker, and skips checks that query accounts', async () => {
  const [, worker] = await listDatabaseURLs(databaseURL, new URL(databaseURL).pathname.slice(1));
  const [{ name } = { name: '' }] = await querySQL<{ name: string }>(databaseURL, 'SELECT current_database() AS name');
  const maintenanceURL = Object.assign(new URL(worker as string), { pathname: '/postgres' }).href;
  await querySQL(
    maintenanceURL,
    `ALTER DATABASE ${name} ALLOW_CONNECTIONS false;
     SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`,
  );
  try {
    const findings = await examine();
    expect(findings.get('workers')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/worker-\d:\d+ cannot be reached/),
    });
    expect(findings.has('erasures')).toBe(false);
  } finally {
    await querySQL(maintenanceURL, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }
});
