// Tests what operators do with a cluster that is in use: add a worker, back up all nodes, and restore them.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createLedger, judge, readEverything } from '../../faults/tools/ledger.ts';
import { querySQL } from '../../fixtures/postgres/sql.ts';
import { freePort } from '../../tools/ports.ts';
import { startServerProcess, stopServerProcess } from '../../tools/server-process.ts';
import { backUpNode, getNodeFolder, getNodeURL, nodes, restoreNode } from '../cluster.ts';
import { useOwnCluster } from '../tools/own-cluster.ts';
import { openTrial } from '../tools/trial.ts';

/** The nodes' archived logs and copies. */
const archive = mkdtempSync(join(tmpdir(), 'firsthand-archive-'));
afterAll(() => rmSync(archive, { recursive: true }));
chmodSync(archive, 0o777);
const archiving = Object.fromEntries(
  nodes.map((node) => {
    const folder = join(archive, node);
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    return [node, `archive_mode = on\narchive_command = 'cp %p ${folder}/%f'\n`];
  }),
);
const cluster = useOwnCluster(archiving);

test('stores and returns every event while a worker is added and accounts are moved to it', async () => {
  const opened = await cluster.newDatabase('distribute');
  const { databaseURL } = opened;
  const database = new URL(databaseURL).pathname.slice(1);
  const trial = await openTrial(opened);
  const end = trial.load();
  await cluster.start('worker-3');
  const added = getNodeFolder(cluster.cluster(), 'worker-3');
  const urlOnAdded = (name: string) => getNodeURL(cluster.cluster(), 'worker-3', name);
  await querySQL(urlOnAdded('postgres'), `CREATE DATABASE ${database}`);
  await querySQL(urlOnAdded(database), 'CREATE EXTENSION citus');
  await querySQL(databaseURL, `SELECT citus_add_node('${added}', 5432)`);
  const findShard = async () => {
    const [found] = await querySQL<{ shard: string; node: string }>(
      databaseURL,
      `SELECT shardid AS shard, nodename AS node
       FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
       WHERE shardid = get_shard_id_for_distribution_column('event', (SELECT min(account) FROM account))`,
    );
    return found as { shard: string; node: string };
  };
  const { shard, node } = await findShard();
  await querySQL(
    databaseURL,
    `SELECT citus_move_shard_placement(${shard}, '${node}', 5432, '${added}', 5432, 'force_logical')`,
  );
  expect(await findShard()).toEqual({ shard, node: added });
  await end();
  await trial.untilServed();
  const { acknowledged, lost, twice, unseen, missing, endings } = await trial.finish();
  expect({ lost, twice, unseen, missing }).toEqual({ lost: 0, twice: 0, unseen: 0, missing: 0 });
  expect(acknowledged).toBeGreaterThan(0);
  expect(endings.filter((ending) => !/^(?:read )?(?:200|503)$/.test(ending))).toEqual([]);
});

test('restores every event stored before a restore point from copies of nodes that were in use', async () => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const env = { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent' };
  const server = await startServerProcess('', await freePort(), { env });
  const loads = accounts.map(({ token }) => {
    const ledger = createLedger(3);
    return { token, ledger, load: ledger.send(server.url, token) };
  });
  const backups = nodes.map((node) => ({ node, backup: join(archive, `${node}-backup`) }));
  for (const { node, backup } of backups) await backUpNode(cluster.cluster(), node, backup);
  const acknowledgedBefore = loads.map(({ ledger }) => ledger.acknowledged.size);
  await expect
    .poll(() => loads.every(({ ledger }, nth) => ledger.acknowledged.size > (acknowledgedBefore[nth] as number)))
    .toBe(true);
  const stored = loads.map(({ ledger }) => new Set(ledger.acknowledged));
  await querySQL(databaseURL, "SELECT citus_create_restore_point('before_damage')");
  await wait(500);
  await Promise.all(loads.map(({ load }) => load.stop()));
  expect(await stopServerProcess(server)).toBe(0);
  for (const { node, backup } of backups) {
    const url = getNodeURL(cluster.cluster(), node, 'postgres');
    const [{ file } = {}] = await querySQL<{ file: string }>(url, 'SELECT pg_walfile_name(pg_switch_wal()) AS file');
    await expect.poll(() => existsSync(join(archive, node, file as string))).toBe(true);
    await cluster.stop(node);
    restoreNode(
      cluster.cluster(),
      node,
      backup,
      `restore_command = 'cp ${join(archive, node)}/%f %p'
recovery_target_name = 'before_damage'
recovery_target_action = promote
`,
    );
  }
  for (const node of nodes) await cluster.start(node);
  const restored = await startServerProcess('', await freePort(), { env });
  for (const [nth, { token, ledger }] of loads.entries()) {
    const held = await readEverything(restored.url, token);
    expect(judge({ acknowledged: stored[nth] as Set<string> }, held)).toEqual({ lost: 0, twice: 0 });
    expect(held.length).toBeLessThan(ledger.acknowledged.size);
    await expect.poll(() => ledger.sendOne(restored.url, token)).toBe(true);
    const [newest] = (await readEverything(restored.url, token)).slice(-1);
    expect(newest).toBe([...ledger.acknowledged].at(-1));
  }
  expect(await stopServerProcess(restored)).toBe(0);
});
