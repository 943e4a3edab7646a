/**
 * Measures how reports slow down ingestion, and how a busy machine slows down reports. For each report process setting:
 * the p99 of single events at half the server's maximum rate, with and without reports; the time of these reports; and
 * their time while other processes keep all cores busy. Each setting has its own server, and they alternate.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createReports } from '../../src/reports/reports.ts';
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { type Priority, type RunningServer, startServer } from '../processes/servers.ts';
import { createMeasuredReports } from '../reports/measured-reports.ts';
import { createSyntheticFeed } from '../synthetic-feed.ts';
import { median, ratio, whole } from '../table.ts';

const settings: readonly Priority[] = [
  { niceness: 10, threads: 2 },
  { niceness: 5, threads: 2 },
  { niceness: 0, threads: 2 },
  { niceness: 5, threads: 1 },
];
const connections = 64;
const fewEvents = 80;
const timeoutMilliseconds = 10 * 60_000;

const get200 = (port: number, path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${serverToken}` };
    const request = get({ host: '127.0.0.1', port, path: `/report/${path}`, headers }, (response) => {
      response
        .resume()
        .on('error', reject)
        .on('end', () => resolve(response.statusCode === 200));
    });
    request.on('error', reject);
  });

const pathsFrom = (time: number): Readonly<Record<string, string>> => {
  const month = `from=${new Date(time).toISOString()}`;
  const step = JSON.stringify([{ event: 1 }, { event: 2 }, { event: 6 }]);
  return {
    totals: `reportTotals?${month}&interval=day`,
    breakdown: `reportBreakdown?${month}&by=attr:campaign`,
    funnel: `reportFunnel?${month}&step=${encodeURIComponent(step)}`,
    retention: `reportRetention?${month}`,
    people: `reportPeople?${month}`,
    live: 'reportLive',
  };
};

interface Measurements {
  readonly without: LoadResult[];
  readonly within: LoadResult[];
  readonly reports: Map<string, number[]>;
  readonly busy: Map<string, number[]>;
  readonly first: number[];
}

/** Requests the reports one after another until `isOver`, each at least once, and records their times. */
const requestAll = async (
  port: number,
  paths: Readonly<Record<string, string>>,
  times: Map<string, number[]>,
  isOver: () => boolean,
): Promise<void> => {
  const all = Object.entries(paths);
  for (let nth = 0; nth < all.length || !isOver(); nth += 1) {
    const [name, path] = all[nth % all.length] as [string, string];
    const startTime = performance.now();
    // Retries reports that were refused for taking too long.
    while (!(await get200(port, path))) await wait(100);
    times.set(name, [...(times.get(name) ?? []), performance.now() - startTime]);
  }
};

/** Runs `work` while two processes of normal priority compete for each core. */
const whileBusy = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  const spinning = `setTimeout(process.exit, ${timeoutMilliseconds}); const spin = () => { for (let n = 0; n < 1e7; n += 1); setImmediate(spin); }; spin(); process.stdin.on('end', process.exit).resume()`;
  const children = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', spinning], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  try {
    return await work();
  } finally {
    await Promise.all(
      children.map((child) => {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        return exited;
      }),
    );
  }
};

/** The time of the first report on an account with few events, including the start of the report process. */
const timeFirst = async (priority: Priority): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-bench-first-'));
  const { feed, contacts } = createSyntheticFeed(fewEvents);
  const timeouts = { limitMilliseconds: timeoutMilliseconds, buildMilliseconds: timeoutMilliseconds };
  const reports = createReports({
    feed,
    folder,
    memory: 256 * 2 ** 20,
    ...priority,
    ...timeouts,
    onFault: console.error,
  });
  try {
    const startTime = performance.now();
    await reports.run(createMeasuredReports(contacts).quickest);
    return performance.now() - startTime;
  } finally {
    await reports.close();
    rmSync(folder, { recursive: true });
  }
};

const rowsOf = ({ niceness, threads }: Priority, { without, within, reports, busy, first }: Measurements): Row[] => {
  const title = `niceness ${niceness}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  const p99 = (results: readonly LoadResult[]) => median(results.map((one) => one.p99));
  const medians = (times: Map<string, number[]>) => [...times].map(([name, list]) => [name, median(list)] as const);
  const formatMedians = (times: Map<string, number[]>) =>
    medians(times)
      .map(([name, each]) => `${name} ${whole(each)}`)
      .join(', ');
  const ratios = without.map((one, nth) => (within[nth] as LoadResult).p99 / one.p99);
  return [
    {
      measured: `${title}: p99 ms per event with and without reports`,
      floor: p99(without).toFixed(2),
      ours: p99(within).toFixed(2),
      ratio: ratio(p99(within), p99(without)),
      bar: '≤ 2 ×',
    },
    { measured: `${title}: ratio in each round`, ours: ratios.map((one) => one.toFixed(1)).join(' '), bar: '' },
    { measured: `${title}: p50 ms of reports during ingestion`, ours: formatMedians(reports), bar: '' },
    { measured: `${title}: p50 ms of reports on a busy machine`, ours: formatMedians(busy), bar: '' },
    {
      measured: `${title}: first report over ${fewEvents} events on a busy machine: ms`,
      ours: whole(median(first)),
      bar: '',
    },
  ];
};

const measure = async (
  servers: readonly { readonly priority: Priority; readonly server: RunningServer }[],
  {
    firstUser,
    paths,
    quick,
  }: { readonly firstUser: number; readonly paths: Readonly<Record<string, string>>; readonly quick: boolean },
): Promise<Row[]> => {
  const load = await startLoad();
  const milliseconds = quick ? 2_000 : 5_000;
  const send = (port: number, requestsPerSecond?: number) => {
    const rateOption = requestsPerSecond === undefined ? {} : { requestsPerSecond };
    return load.run({
      port,
      token: serverToken,
      connections,
      request: { events: 1 },
      firstUser,
      milliseconds,
      ...rateOption,
    });
  };
  const measured = servers.map(
    (): Measurements => ({ without: [], within: [], reports: new Map(), busy: new Map(), first: [] }),
  );
  const fewPaths = { totals: paths.totals as string, live: paths.live as string };
  const loads: number[] = [];
  try {
    for (const { server } of servers) await requestAll(server.port, paths, new Map(), () => true);
    const peak = await send(servers[0]?.server.port as number);
    const rate = Math.floor(peak.eventsPerSecond / 2);
    for (let round = 0; round < (quick ? 3 : 6); round += 1) {
      loads.push(loadavg()[0] as number);
      for (const [nth, { server, priority }] of servers.entries()) {
        const { without, within, reports, busy, first } = measured[nth] as Measurements;
        without.push(await send(server.port, rate));
        let isOver = false;
        const requesting = requestAll(server.port, paths, reports, () => isOver);
        within.push(await send(server.port, rate));
        isOver = true;
        await requesting;
        await whileBusy(async () => {
          await requestAll(server.port, fewPaths, busy, () => true);
          first.push(await timeFirst(priority));
        });
      }
    }
    return [
      { measured: 'events/s sent', ours: whole(rate), bar: '' },
      { measured: 'machine load in each round', ours: loads.map((one) => one.toFixed(1)).join(' '), bar: '' },
      ...measured.flatMap((one, nth) => rowsOf(settings[nth] as Priority, one)),
    ];
  } finally {
    load.stop();
  }
};

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(Math.min(events, 1_000_000));
  const servers: { readonly priority: Priority; readonly server: RunningServer }[] = [];
  const onServers = async (rest: readonly Priority[]): Promise<Row[]> => {
    const [priority, ...others] = rest;
    if (priority === undefined)
      return measure(servers, { firstUser: getFirstUser(history), paths: pathsFrom(history.about.from), quick });
    return withCopy(history, async (path) => {
      const server = await startServer('reporting', path, 'build', priority);
      servers.push({ priority, server });
      try {
        return await onServers(others);
      } finally {
        await server.stop();
      }
    });
  };
  return onServers(settings);
};
