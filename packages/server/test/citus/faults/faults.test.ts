// Tests faults that servers on a cluster must survive without manual restarts: the loss of a server, a worker, the
// coordinator or the response to COMMIT, and moved shards.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { querySQL } from '../../fixtures/postgres/sql.ts';
import { quantile, times } from '../../tools/counts.ts';
import { report } from '../../tools/report.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { acknowledgingEarlyOnPostgres, ignoringFailedCommitsOnPostgres } from '../../weaknesses/store.ts';
import { getNodeFolder, type Node, nodes } from '../cluster.ts';
import { type CuttingProxy, openCuttingProxy } from '../tools/cutting-proxy.ts';
import { useOwnCluster } from '../tools/own-cluster.ts';
import {
  type Findings,
  listUnavailableAccounts,
  openTrial,
  probe,
  type Trial,
  type TrialAccount,
} from '../tools/trial.ts';

const kills = times({ quick: 4, full: 100 });
const stops = times({ quick: 3, full: 60 });
const cuts = times({ quick: 20, full: 300 });
const moves = times({ quick: 2, full: 30 });

/** The maximum time that creating a day's partitions may take. */
const maxLockedMilliseconds = 60_000;

const cluster = useOwnCluster();

const noFaults = { lost: 0, twice: 0, unseen: 0, missing: 0, repeated: 0, withoutRetryAfter: 0 };
const expectedEndings = ['200', '503', 'read 200', 'read 503'];
const expectNoFaults = (findings: Findings) => {
  expect(findings).toMatchObject(noFaults);
  expect(findings.endings.filter((ending) => !expectedEndings.includes(ending))).toEqual([]);
};
const faultsIn = ({ lost, unseen, missing }: Findings) => lost + unseen + missing;

const early = () => changeServer(cluster.folder(), `early_${performance.now()}`, acknowledgingEarlyOnPostgres);

/** Repeatedly kills one of two servers under load. */
const killRepeatedly = async (count: number, main?: string) => {
  const trial = await openTrial({ ...(await cluster.newDatabase()), main });
  for (let kill = 0; kill < count; kill += 1) {
    const stop = trial.load();
    await wait(200 + Math.random() * 400);
    await trial.kill(kill % 2);
    await stop();
  }
  return trial.finish();
};

test(`neither loses nor duplicates events when servers are killed ${kills} times`, async (context) => {
  const findings = await killRepeatedly(kills);
  expect(findings).toMatchObject(noFaults);
  const weakened = await killRepeatedly(3, early());
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: one of two servers killed',
    count: `${kills} × kill -9, ${findings.acknowledged} events`,
    result: '0 lost, 0 twice, each in the next read and in every stream',
    weakened: `responds before the commit: ${weakened.lost} lost, ${weakened.unseen} not in the next read in 3 kills`,
  });
});

/** The responses for the accounts of a stopped node and for other accounts, and how long recovery took. */
interface Outage {
  readonly lost: Map<string, number>;
  readonly others: Map<string, number>;
  readonly recoveries: number[];
}

const count = (endings: Map<string, number>, ending: string) => endings.set(ending, (endings.get(ending) ?? 0) + 1);

const probeWhileStopped = async ({ urls, accounts }: Trial, node: Node, { lost, others }: Outage) => {
  const unavailable = new Set<TrialAccount>(listUnavailableAccounts(node, accounts));
  for (let nth = 0; nth < 10; nth += 1) {
    for (const account of accounts) {
      for (const ending of await probe(urls[nth % 2] as string, account))
        count(unavailable.has(account) ? lost : others, ending);
    }
    await wait(20);
  }
};

/** Stops the nodes in turn under load, as a power failure would, and restarts each. */
const stopRepeatedly = async (total: number, main?: string) => {
  const trial = await openTrial({ ...(await cluster.newDatabase()), main });
  const outage: Outage = { lost: new Map(), others: new Map(), recoveries: [] };
  for (let stop = 0; stop < total; stop += 1) {
    const node = nodes[(stop + 1) % nodes.length] as Node;
    const end = trial.load();
    await wait(300 + Math.random() * 300);
    await cluster.stop(node);
    await probeWhileStopped(trial, node, outage);
    await cluster.start(node);
    outage.recoveries.push(await trial.untilServed());
    await end();
  }
  return { ...(await trial.finish()), outage };
};

test(`neither loses nor duplicates events when nodes stop ${stops} times, and returns 503 only for the nodes’ accounts`, async (context) => {
  const findings = await stopRepeatedly(stops);
  expectNoFaults(findings);
  expect([...findings.outage.lost.keys()].sort()).toEqual(['read 503', 'write 503']);
  expect([...findings.outage.others.keys()].sort()).toEqual(['read 200', 'write 200']);
  const weakened = await stopRepeatedly(3, early());
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: nodes stop as if power were cut',
    count: `${stops} × immediate, workers and coordinator in turn, ${findings.acknowledged} events through two servers`,
    result:
      `0 lost, 0 twice, each in the next read and in every stream; while a worker was down its accounts got 503, ` +
      `the others 200; all were served ${quantile(findings.outage.recoveries, 0.5).toFixed(0)} ms after it was back, at most ${Math.max(...findings.outage.recoveries).toFixed(0)} ms`,
    weakened: `responds before the commit: ${weakened.lost} lost, ${weakened.unseen} not in the next read in 3 stops`,
  });
});

/** Cuts connections at COMMIT: between servers and the coordinator, and between the coordinator and workers. */
const cutRepeatedly = async (total: number, main?: string) => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const proxyFolder = join(cluster.cluster(), `doors-${new URL(databaseURL).pathname.slice(1)}`);
  let isCutting = false;
  const proxies: CuttingProxy[] = [];
  const openProxy = async (node: Node) => {
    const folder = join(proxyFolder, node);
    const target = getNodeFolder(cluster.cluster(), node);
    proxies.push(await openCuttingProxy(folder, target, { share: 0.2, isCutting: () => isCutting }));
    return folder;
  };
  for (const node of nodes.slice(1)) {
    const folder = await openProxy(node);
    await querySQL(
      databaseURL,
      `SELECT citus_update_node(nodeid, '${folder}', 5432) FROM pg_dist_node WHERE nodename = '${getNodeFolder(cluster.cluster(), node)}'`,
    );
  }
  const url = databaseURL.replace(
    encodeURIComponent(getNodeFolder(cluster.cluster(), 'coordinator')),
    encodeURIComponent(await openProxy('coordinator')),
  );
  const trial = await openTrial({ databaseURL: url, accounts, main });
  const sumOf = (way: 'before' | 'after' | 'late') => proxies.reduce((all, { cuts: counts }) => all + counts[way], 0);
  const sum = () => sumOf('before') + sumOf('after') + sumOf('late');
  const end = trial.load();
  isCutting = true;
  while (sum() < total) await wait(50);
  isCutting = false;
  await end();
  await trial.untilServed();
  const findings = await trial.finish();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  return { ...findings, before: sumOf('before'), after: sumOf('after'), late: sumOf('late') };
};

test(`neither loses nor duplicates events when connections are cut at COMMIT ${cuts} times`, async (context) => {
  const findings = await cutRepeatedly(cuts);
  expectNoFaults(findings);
  expect(Math.min(findings.before, findings.after, findings.late)).toBeGreaterThan(0);
  const main = changeServer(cluster.folder(), 'ignoring', ignoringFailedCommitsOnPostgres);
  const weakened = await cutRepeatedly(cuts, main);
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: connections cut at COMMIT',
    count: `${findings.before} before it was executed, ${findings.after} after, ${findings.late} half a second before; between servers, coordinator and workers; ${findings.acknowledged} events`,
    result: '0 lost, 0 twice, each in the next read and in every stream',
    weakened: `treats a failed commit as successful: ${weakened.lost} lost, ${weakened.unseen} not in the next read`,
  });
});

interface Move {
  readonly shard: string;
  readonly from: string;
  readonly to: string;
}

const isLocked = (error: unknown): boolean => /could not acquire the lock required to move/.test(String(error));

/** Retries while Citus refuses to move shards because a server is creating their partitions. */
const retryWhileLocked = async (work: () => Promise<unknown>): Promise<void> => {
  const began = performance.now();
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() - began > maxLockedMilliseconds) throw error;
      await wait(200);
    }
  }
};

/** Moves an account's shards to the other worker, as an operator would, and returns the duration in milliseconds. */
const moveShard = async (databaseURL: string, nth: number, accountNumber: number): Promise<number> => {
  const [move] = await querySQL<Move>(
    databaseURL,
    `SELECT p.shardid AS shard, here.nodename AS from, there.nodename AS to
     FROM pg_dist_placement p JOIN pg_dist_node here USING (groupid)
       JOIN pg_dist_node there ON there.groupid NOT IN (0, here.groupid)
     WHERE p.shardid = get_shard_id_for_distribution_column('event', ${accountNumber})`,
  );
  const { shard, from, to } = move as Move;
  const mode = nth % 2 === 0 ? 'force_logical' : 'block_writes';
  const began = performance.now();
  await retryWhileLocked(() =>
    querySQL(databaseURL, `SELECT citus_move_shard_placement(${shard}, '${from}', 5432, '${to}', 5432, '${mode}')`),
  );
  return performance.now() - began;
};

const moveRepeatedly = async (total: number, main?: string) => {
  const opened = await cluster.newDatabase();
  const trial = await openTrial({ ...opened, main });
  const numbers = await querySQL<{ account: number }>(
    opened.databaseURL,
    'SELECT account FROM account ORDER BY account',
  );
  const durations: number[] = [];
  const end = trial.load();
  for (let nth = 0; nth < total; nth += 1) {
    const { account } = numbers[nth % numbers.length] as { account: number };
    durations.push(await moveShard(opened.databaseURL, nth, account));
  }
  await retryWhileLocked(() =>
    querySQL(opened.databaseURL, `SELECT rebalance_table_shards(shard_transfer_mode := 'force_logical')`),
  );
  await end();
  await trial.untilServed();
  return { ...(await trial.finish()), durations };
};

test(`loses and duplicates no event while shards are moved ${moves} times`, async (context) => {
  const findings = await moveRepeatedly(moves);
  expectNoFaults(findings);
  const weakened = await moveRepeatedly(2, early());
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: shards moved under load',
    count: `${moves} × citus_move_shard_placement, half of them blocking writes, and a rebalance; ${findings.acknowledged} events`,
    result:
      `0 lost, 0 twice, each in the next read and in every stream; ${findings.count('503')} responses 503 with Retry-After; ` +
      `a move took ${quantile(findings.durations, 0.5).toFixed(0)} ms`,
    weakened: `responds before the commit: ${weakened.lost} lost, ${weakened.unseen} not in the next read`,
  });
});
