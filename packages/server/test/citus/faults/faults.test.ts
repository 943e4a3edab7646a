// What servers over a cluster must survive: the loss of a server, of a worker, of the coordinator, of an answer to COMMIT, and shards
// that are moved meanwhile. Nobody starts a server again by hand.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { asking } from '../../fixtures/postgres/asking.ts';
import { quantile, times } from '../../tools/counts.ts';
import { report } from '../../tools/report.ts';
import { changeServer } from '../../tools/weakened.ts';
import { acknowledgingEarlyOnPostgres, ignoringFailedCommitsOnPostgres } from '../../weaknesses/store.ts';
import { folderOf, type Node, nodes } from '../cluster.ts';
import { type CuttingProxy, openCuttingProxy } from '../tools/cutting-proxy.ts';
import { useOwnCluster } from '../tools/own-cluster.ts';
import { type Findings, lostWith, openTrial, probe, type Trial, type TrialAccount } from '../tools/trial.ts';

const kills = times({ quick: 4, full: 100 });
const stops = times({ quick: 3, full: 60 });
const cuts = times({ quick: 20, full: 300 });
const moves = times({ quick: 2, full: 30 });

/** How long the partitions of a day may take. */
const maxTakenMilliseconds = 60_000;

const cluster = useOwnCluster();

const nothing = { lost: 0, twice: 0, unseen: 0, untold: 0, toldTwice: 0, withoutRetryAfter: 0 };
const answers = ['200', '503', 'read 200', 'read 503'];
const expectNothing = (found: Findings) => {
  expect(found).toMatchObject(nothing);
  expect(found.endings.filter((ending) => !answers.includes(ending))).toEqual([]);
};
const faultsIn = ({ lost, unseen, untold }: Findings) => lost + unseen + untold;

const early = () => changeServer(cluster.folder(), `early_${performance.now()}`, acknowledgingEarlyOnPostgres);

/** Kills one of two servers under load again and again. */
const killAgainAndAgain = async (count: number, main?: string) => {
  const trial = await openTrial({ ...(await cluster.newDatabase()), main });
  for (let kill = 0; kill < count; kill += 1) {
    const stop = trial.load();
    await wait(200 + Math.random() * 400);
    await trial.kill(kill % 2);
    await stop();
  }
  return trial.finish();
};

test(`no event is lost or doubled when servers are killed ${kills} times`, async (context) => {
  const found = await killAgainAndAgain(kills);
  expect(found).toMatchObject(nothing);
  const weakened = await killAgainAndAgain(3, early());
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: one of two servers killed',
    count: `${kills} × kill -9, ${found.acknowledged} events`,
    result: '0 lost, 0 twice, each in the next read and in every stream',
    weakened: `answers before the commit: ${weakened.lost} lost, ${weakened.unseen} not in the next read in 3 kills`,
  });
});

/** How the accounts of the lost node and the others were answered while it was away. */
interface Away {
  readonly lost: Map<string, number>;
  readonly others: Map<string, number>;
  readonly recoveries: number[];
}

const count = (endings: Map<string, number>, ending: string) => endings.set(ending, (endings.get(ending) ?? 0) + 1);

const probeWhileAway = async ({ urls, accounts }: Trial, node: Node, { lost, others }: Away) => {
  const gone = new Set<TrialAccount>(lostWith(node, accounts));
  for (let nth = 0; nth < 10; nth += 1) {
    for (const account of accounts) {
      for (const ending of await probe(urls[nth % 2] as string, account))
        count(gone.has(account) ? lost : others, ending);
    }
    await wait(20);
  }
};

/** Stops each node in turn, under load, as if its machine had lost power, and starts it again. */
const stopAgainAndAgain = async (total: number, main?: string) => {
  const trial = await openTrial({ ...(await cluster.newDatabase()), main });
  const away: Away = { lost: new Map(), others: new Map(), recoveries: [] };
  for (let stop = 0; stop < total; stop += 1) {
    const node = nodes[(stop + 1) % nodes.length] as Node;
    const end = trial.load();
    await wait(300 + Math.random() * 300);
    await cluster.stop(node);
    await probeWhileAway(trial, node, away);
    await cluster.start(node);
    away.recoveries.push(await trial.untilServed());
    await end();
  }
  return { ...(await trial.finish()), away };
};

test(`no event is lost or doubled when nodes are stopped ${stops} times, and only their accounts are answered 503`, async (context) => {
  const found = await stopAgainAndAgain(stops);
  expectNothing(found);
  expect([...found.away.lost.keys()].sort()).toEqual(['read 503', 'write 503']);
  expect([...found.away.others.keys()].sort()).toEqual(['read 200', 'write 200']);
  const weakened = await stopAgainAndAgain(3, early());
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: nodes stopped as by a power cut',
    count: `${stops} × immediate, workers and coordinator in turn, ${found.acknowledged} events through two servers`,
    result:
      `0 lost, 0 twice, each in the next read and in every stream; while a worker was away its accounts were answered 503, ` +
      `the others 200; all served ${quantile(found.away.recoveries, 0.5).toFixed(0)} ms after it was back, at most ${Math.max(...found.away.recoveries).toFixed(0)} ms`,
    weakened: `answers before the commit: ${weakened.lost} lost, ${weakened.unseen} not in the next read in 3 stops`,
  });
});

/** Cuts connections at COMMIT, between servers and coordinator and between coordinator and workers. */
const cutAgainAndAgain = async (total: number, main?: string) => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const doors = join(cluster.cluster(), `doors-${new URL(databaseURL).pathname.slice(1)}`);
  let isCutting = false;
  const proxies: CuttingProxy[] = [];
  const openDoor = async (node: Node) => {
    const door = join(doors, node);
    const target = folderOf(cluster.cluster(), node);
    proxies.push(await openCuttingProxy(door, target, { share: 0.2, isCutting: () => isCutting }));
    return door;
  };
  for (const node of nodes.slice(1)) {
    const door = await openDoor(node);
    await asking(
      databaseURL,
      `SELECT citus_update_node(nodeid, '${door}', 5432) FROM pg_dist_node WHERE nodename = '${folderOf(cluster.cluster(), node)}'`,
    );
  }
  const url = databaseURL.replace(
    encodeURIComponent(folderOf(cluster.cluster(), 'coordinator')),
    encodeURIComponent(await openDoor('coordinator')),
  );
  const trial = await openTrial({ databaseURL: url, accounts, main });
  const sumOf = (way: 'before' | 'after' | 'late') => proxies.reduce((all, { cuts: made }) => all + made[way], 0);
  const sum = () => sumOf('before') + sumOf('after') + sumOf('late');
  const end = trial.load();
  isCutting = true;
  while (sum() < total) await wait(50);
  isCutting = false;
  await end();
  await trial.untilServed();
  const found = await trial.finish();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  return { ...found, before: sumOf('before'), after: sumOf('after'), late: sumOf('late') };
};

test(`no event is lost or doubled when connections are cut at COMMIT ${cuts} times`, async (context) => {
  const found = await cutAgainAndAgain(cuts);
  expectNothing(found);
  expect(Math.min(found.before, found.after, found.late)).toBeGreaterThan(0);
  const main = changeServer(cluster.folder(), 'ignoring', ignoringFailedCommitsOnPostgres);
  const weakened = await cutAgainAndAgain(cuts, main);
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: connections cut at COMMIT',
    count: `${found.before} before it was done, ${found.after} after, ${found.late} half a second before; between servers, coordinator and workers; ${found.acknowledged} events`,
    result: '0 lost, 0 twice, each in the next read and in every stream',
    weakened: `takes a failed commit for a good one: ${weakened.lost} lost, ${weakened.unseen} not in the next read`,
  });
});

interface Move {
  readonly shard: string;
  readonly from: string;
  readonly to: string;
}

const isTaken = (error: unknown): boolean => /could not acquire the lock required to move/.test(String(error));

/** Citus refuses to move what a server makes partitions for, and says to try again when that is finished. */
const whenFree = async (work: () => Promise<unknown>): Promise<void> => {
  const began = performance.now();
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isTaken(error) || performance.now() - began > maxTakenMilliseconds) throw error;
      await wait(200);
    }
  }
};

/** Moves what lies with one shard of an account to the other worker, as an operator does; returns the milliseconds. */
const moveShard = async (databaseURL: string, nth: number, accountNumber: number): Promise<number> => {
  const [move] = await asking<Move>(
    databaseURL,
    `SELECT p.shardid AS shard, here.nodename AS from, there.nodename AS to
     FROM pg_dist_placement p JOIN pg_dist_node here USING (groupid)
       JOIN pg_dist_node there ON there.groupid NOT IN (0, here.groupid)
     WHERE p.shardid = get_shard_id_for_distribution_column('event', ${accountNumber})`,
  );
  const { shard, from, to } = move as Move;
  const mode = nth % 2 === 0 ? 'force_logical' : 'block_writes';
  const began = performance.now();
  await whenFree(() =>
    asking(databaseURL, `SELECT citus_move_shard_placement(${shard}, '${from}', 5432, '${to}', 5432, '${mode}')`),
  );
  return performance.now() - began;
};

const moveAgainAndAgain = async (total: number, main?: string) => {
  const opened = await cluster.newDatabase();
  const trial = await openTrial({ ...opened, main });
  const numbers = await asking<{ account: number }>(opened.databaseURL, 'SELECT account FROM account ORDER BY account');
  const durations: number[] = [];
  const end = trial.load();
  for (let nth = 0; nth < total; nth += 1) {
    const { account } = numbers[nth % numbers.length] as { account: number };
    durations.push(await moveShard(opened.databaseURL, nth, account));
  }
  await whenFree(() =>
    asking(opened.databaseURL, `SELECT rebalance_table_shards(shard_transfer_mode := 'force_logical')`),
  );
  await end();
  await trial.untilServed();
  return { ...(await trial.finish()), durations };
};

test(`no event is lost or doubled while shards are moved ${moves} times`, async (context) => {
  const found = await moveAgainAndAgain(moves);
  expectNothing(found);
  const weakened = await moveAgainAndAgain(2, early());
  expect(faultsIn(weakened)).toBeGreaterThan(0);
  report(context, {
    fault: 'Citus: shards moved under load',
    count: `${moves} × citus_move_shard_placement, one half blocking writes, and a rebalance; ${found.acknowledged} events`,
    result:
      `0 lost, 0 twice, each in the next read and in every stream; ${found.count('503')} answers 503 with Retry-After; ` +
      `a move took ${quantile(found.durations, 0.5).toFixed(0)} ms`,
    weakened: `answers before the commit: ${weakened.lost} lost, ${weakened.unseen} not in the next read`,
  });
});
