/**
 * What does storing an event durably cost? Sends single events and batches over HTTP, over a month of history, and compares our server, which
 * commits and syncs before each response, with the same app without storage, and that with bare node:http and JSON.parse.
 */
import { serverToken } from '../account.ts';
import { firstUserOf, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { cpuSeconds } from '../processes/process.ts';
import { type Running, type ServerKind, startServer } from '../processes/servers.ts';
import type { Options, Row } from '../question.ts';
import { inFolder, onCopy } from '../remembered.ts';
import { settle } from '../settling.ts';
import { duration, median, ratio, whole } from '../table.ts';

const kinds: readonly ServerKind[] = ['bare', 'nothing kept', 'durable'];

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
  /** Processor time of the server for an event, on all its threads. */
  readonly cpuMicroseconds: number;
}

const cpu = (results: readonly Result[]) => median(results.map(({ cpuMicroseconds }) => cpuMicroseconds));
const perSecond = (results: readonly Result[]) => median(results.map(({ eventsPerSecond }) => eventsPerSecond));
const p99 = (results: readonly Result[]) => median(results.map((result) => result.p99));

/** Compares our server with the one without storage: events a second and the 99th percentile. */
const compare = (
  what: string,
  floor: readonly Result[],
  ours: readonly Result[],
  bars: readonly [string, string],
): Row[] => [
  {
    measured: `${what}: events/s, beside nothing kept`,
    floor: whole(perSecond(floor)),
    ours: whole(perSecond(ours)),
    ratio: ratio(perSecond(ours), perSecond(floor)),
    bar: bars[0],
  },
  {
    measured: `${what}: p99 ms, beside nothing kept`,
    floor: p99(floor).toFixed(1),
    ours: p99(ours).toFixed(1),
    ratio: ratio(p99(ours), p99(floor)),
    bar: bars[1],
  },
  {
    measured: `${what}: CPU µs of the server for an event, beside nothing kept`,
    floor: cpu(floor).toFixed(1),
    ours: cpu(ours).toFixed(1),
    ratio: ratio(cpu(ours), cpu(floor)),
    bar: '',
  },
];

const measure = async (
  servers: ReadonlyMap<ServerKind, Running>,
  token: string,
  firstUser: number,
  { quick, minutes }: Options,
): Promise<Row[]> => {
  const load = await startLoad();
  const rounds = quick ? 1 : 3;
  const milliseconds = quick ? 700 : 3_000;
  const ask = async (kind: ServerKind, { events, connections }: Shape, forMilliseconds: number): Promise<Result> => {
    const { port, pid } = servers.get(kind) as Running;
    const request = { events };
    const before = cpuSeconds(pid) ?? Number.NaN;
    const result = await load.run({ port, token, connections, request, firstUser, milliseconds: forMilliseconds });
    // The work after the responses must not slow down the next server, and is part of the cost.
    if (kind === 'durable') await settle(pid);
    return { ...result, cpuMicroseconds: (((cpuSeconds(pid) ?? Number.NaN) - before) * 1e6) / result.events };
  };
  try {
    const rows: Row[] = [];
    for (const shape of quick ? shapes.filter(({ connections }) => connections !== 256) : shapes) {
      const what = `${shape.events} a request, ${shape.connections} connections`;
      const results = new Map(kinds.map((kind) => [kind, [] as Result[]]));
      // The bare server does not look at the events of a batch.
      const compared = kinds.filter((kind) => kind !== 'bare' || shape.events === 1);
      // Warms up V8, which takes longer for a server of many parts.
      for (const kind of compared) await ask(kind, shape, quick ? milliseconds / 3 : 2 * milliseconds);
      for (let round = 0; round < rounds; round += 1)
        for (const kind of compared) results.get(kind)?.push(await ask(kind, shape, milliseconds));
      const of = (kind: ServerKind) => results.get(kind) as Result[];
      const { burst, burstP99, long, longP99 } = shape.bars;
      if (of('bare').length > 0) {
        rows.push({
          measured: `${what}: events/s with nothing kept, beside bare node:http`,
          floor: whole(perSecond(of('bare'))),
          ours: whole(perSecond(of('nothing kept'))),
          ratio: ratio(perSecond(of('nothing kept')), perSecond(of('bare'))),
          bar: '≥ 0.6',
        });
        rows.push({
          measured: `${what}: CPU µs of the server for an event with nothing kept, beside bare node:http`,
          floor: cpu(of('bare')).toFixed(1),
          ours: cpu(of('nothing kept')).toFixed(1),
          ratio: ratio(cpu(of('nothing kept')), cpu(of('bare'))),
          bar: '',
        });
      }
      rows.push(...compare(what, of('nothing kept'), of('durable'), [burst, burstP99]));
      if (shape.connections === 256) continue;
      const sustained = await ask('durable', shape, minutes * 60_000);
      rows.push(...compare(`${what}, for ${duration(minutes)}`, of('nothing kept'), [sustained], [long, longP99]));
    }
    return rows;
  } finally {
    load.stop();
  }
};

export const run = async (options: Options): Promise<Row[]> => {
  const history = await openHistory(options.events);
  return onCopy(history, (path) =>
    inFolder(async (folder) => {
      const servers = new Map<ServerKind, Running>();
      try {
        for (const kind of kinds) {
          servers.set(kind, await startServer(kind, kind === 'durable' ? path : `${folder}/firsthand.db`));
        }
        const firstUser = firstUserOf(history);
        return await measure(servers, serverToken, firstUser, options);
      } finally {
        for (const server of servers.values()) await server.stop();
      }
    }),
  );
};
