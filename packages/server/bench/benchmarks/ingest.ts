/**
 * Measures the cost of storing an event durably. Sends single events and batches over HTTP, over a month of history.
 * Compares our server, which commits and syncs before each response, with the same app without storage; and compares
 * the app without storage with bare node:http.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { inFolder, withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { cpuSeconds } from '../processes/process.ts';
import { type RunningServer, type ServerKind, startServer } from '../processes/servers.ts';
import { settle } from '../settle.ts';
import { duration, median, ratio, whole } from '../table.ts';

const kinds: readonly ServerKind[] = ['bare', 'no storage', 'durable'];

interface Shape {
  readonly events: number;
  readonly connections: number;
  readonly bars: { readonly burst: string; readonly burstP99: string; readonly long: string; readonly longP99: string };
}
const single = { burst: '≥ 0.85', burstP99: '≤ 2', long: '≥ 0.7', longP99: '≤ 4' };
const shapes: readonly Shape[] = [
  { events: 1, connections: 64, bars: single },
  { events: 1, connections: 256, bars: single },
  { events: 50, connections: 32, bars: { burst: '≥ 0.7', burstP99: '', long: '≥ 0.4', longP99: '' } },
];

interface Result extends LoadResult {
  /** The server's CPU time per event, on all threads. */
  readonly cpuMicroseconds: number;
}

const cpu = (results: readonly Result[]) => median(results.map(({ cpuMicroseconds }) => cpuMicroseconds));
const perSecond = (results: readonly Result[]) => median(results.map(({ eventsPerSecond }) => eventsPerSecond));
const p99 = (results: readonly Result[]) => median(results.map((result) => result.p99));

/** Compares our server with the server without storage. */
const compare = (
  title: string,
  floor: readonly Result[],
  ours: readonly Result[],
  bars: readonly [string, string],
): Row[] => [
  {
    measured: `${title}: events/s vs. no storage`,
    floor: whole(perSecond(floor)),
    ours: whole(perSecond(ours)),
    ratio: ratio(perSecond(ours), perSecond(floor)),
    bar: bars[0],
  },
  {
    measured: `${title}: p99 ms vs. no storage`,
    floor: p99(floor).toFixed(1),
    ours: p99(ours).toFixed(1),
    ratio: ratio(p99(ours), p99(floor)),
    bar: bars[1],
  },
  {
    measured: `${title}: server CPU µs per event vs. no storage`,
    floor: cpu(floor).toFixed(1),
    ours: cpu(ours).toFixed(1),
    ratio: ratio(cpu(ours), cpu(floor)),
    bar: '',
  },
];

const measure = async (
  servers: ReadonlyMap<ServerKind, RunningServer>,
  token: string,
  firstUser: number,
  { quick, minutes }: Options,
): Promise<Row[]> => {
  const load = await startLoad();
  const rounds = quick ? 1 : 3;
  const milliseconds = quick ? 700 : 3_000;
  const runLoad = async (
    kind: ServerKind,
    { events, connections }: Shape,
    forMilliseconds: number,
  ): Promise<Result> => {
    const { port, pid } = servers.get(kind) as RunningServer;
    const request = { events };
    const before = cpuSeconds(pid) ?? Number.NaN;
    const result = await load.run({ port, token, connections, request, firstUser, milliseconds: forMilliseconds });
    // Work after the responses is part of the cost, and must not slow down the next server.
    if (kind === 'durable') await settle(pid);
    return { ...result, cpuMicroseconds: (((cpuSeconds(pid) ?? Number.NaN) - before) * 1e6) / result.events };
  };
  try {
    const rows: Row[] = [];
    for (const shape of quick ? shapes.filter(({ connections }) => connections !== 256) : shapes) {
      const title = `${shape.events} per request, ${shape.connections} connections`;
      const results = new Map(kinds.map((kind) => [kind, [] as Result[]]));
      // The bare server does not process a batch's events.
      const measuredKinds = kinds.filter((kind) => kind !== 'bare' || shape.events === 1);
      // Warms up V8, which takes longer for a larger server.
      for (const kind of measuredKinds) await runLoad(kind, shape, quick ? milliseconds / 3 : 2 * milliseconds);
      for (let round = 0; round < rounds; round += 1)
        for (const kind of measuredKinds) results.get(kind)?.push(await runLoad(kind, shape, milliseconds));
      const of = (kind: ServerKind) => results.get(kind) as Result[];
      const { burst, burstP99, long, longP99 } = shape.bars;
      if (of('bare').length > 0) {
        rows.push({
          measured: `${title}: events/s without storage vs. bare node:http`,
          floor: whole(perSecond(of('bare'))),
          ours: whole(perSecond(of('no storage'))),
          ratio: ratio(perSecond(of('no storage')), perSecond(of('bare'))),
          bar: '≥ 0.6',
        });
        rows.push({
          measured: `${title}: server CPU µs per event without storage vs. bare node:http`,
          floor: cpu(of('bare')).toFixed(1),
          ours: cpu(of('no storage')).toFixed(1),
          ratio: ratio(cpu(of('no storage')), cpu(of('bare'))),
          bar: '',
        });
      }
      rows.push(...compare(title, of('no storage'), of('durable'), [burst, burstP99]));
      if (shape.connections === 256) continue;
      const sustained = await runLoad('durable', shape, minutes * 60_000);
      rows.push(...compare(`${title}, for ${duration(minutes)}`, of('no storage'), [sustained], [long, longP99]));
    }
    return rows;
  } finally {
    load.stop();
  }
};

export const run = async (options: Options): Promise<Row[]> => {
  const history = await openHistory(options.events);
  return withCopy(history, (path) =>
    inFolder(async (folder) => {
      const servers = new Map<ServerKind, RunningServer>();
      try {
        for (const kind of kinds) {
          servers.set(kind, await startServer(kind, kind === 'durable' ? path : `${folder}/firsthand.db`));
        }
        const firstUser = getFirstUser(history);
        return await measure(servers, serverToken, firstUser, options);
      } finally {
        for (const server of servers.values()) await server.stop();
      }
    }),
  );
};
