/**
 * Measures PostgreSQL. Compares single events and batches over HTTP with bare inserts of the same rows, alternately,
 * and measures the bytes per event and the latency of pages over a month of history.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { openBenchmark, serverToken } from '../account.ts';
import { openBareInserts } from '../bare-unnest.ts';
import type { Options, Row } from '../benchmark.ts';
import { createLimiter, eventsPerBatch, newContact, storeAll } from '../fill-store.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { type OwnPostgres, withClient, withPostgres } from '../processes/own-postgres.ts';
import { cpuSeconds } from '../processes/process.ts';
import { startServer } from '../processes/servers.ts';
import { median, ratio, table, whole } from '../table.ts';
import { busiestUser, countBusiestEvents, countUsers, createRandom, createVisits, userName } from '../visits.ts';

const shapes = [
  { events: 1, connections: 64, bar: '' },
  { events: 100, connections: 16, bar: '≥ 0.7' },
] as const;
/** The number of connections on which our server writes events. */
const bareConnections = 4;
const dayMilliseconds = 86_400_000;
/** The median of several rounds is reported, because other work on the machine affects some of them. */
const readRounds = 7;

const measureSpeed = async (postgres: OwnPostgres, { quick }: Options): Promise<Row[]> => {
  const milliseconds = quick ? 2_000 : 5_000;
  const rounds = quick ? 1 : 3;
  const next = createVisits(1_000_000);
  const nextBatch = () => Array.from({ length: 100 }, () => next(Date.now()).event);
  const bare = await openBareInserts(await postgres.createDatabase('bare'), bareConnections);
  const server = await startServer('durable', await postgres.createDatabase('ours'));
  const load = await startLoad();
  try {
    const floors: number[] = [];
    const results = new Map(shapes.map((shape) => [shape, [] as (LoadResult & { cpu: number; clusterCPU: number })[]]));
    for (let round = -1; round < rounds; round += 1) {
      const floor = await bare.run(nextBatch, milliseconds);
      if (round >= 0) floors.push(floor);
      for (const shape of shapes) {
        const { events, connections } = shape;
        const before = cpuSeconds(server.pid) ?? Number.NaN;
        const clusterBefore = postgres.cpuSeconds();
        const request = { events };
        const result = await load.run({ port: server.port, token: serverToken, connections, request, milliseconds });
        const cpu = (((cpuSeconds(server.pid) ?? Number.NaN) - before) * 1e6) / result.events;
        const clusterCPU = ((postgres.cpuSeconds() - clusterBefore) * 1e6) / result.events;
        if (round >= 0) results.get(shape)?.push({ ...result, cpu, clusterCPU });
      }
    }
    const floor = median(floors);
    return shapes.flatMap((shape): Row[] => {
      const { events, connections, bar } = shape;
      const of = results.get(shape) ?? [];
      const ours = median(of.map(({ eventsPerSecond }) => eventsPerSecond));
      const title = `${events} per request, ${connections} connections`;
      return [
        {
          measured: `${title}: events/s vs. bare inserts of 100 on ${bareConnections} connections`,
          floor: whole(floor),
          ours: whole(ours),
          ratio: ratio(ours, floor),
          bar,
        },
        { measured: `${title}: p99 ms`, ours: median(of.map(({ p99 }) => p99)).toFixed(1), bar: '' },
        {
          measured: `${title}: server CPU µs per event`,
          ours: median(of.map(({ cpu }) => cpu)).toFixed(1),
          bar: '',
        },
        {
          measured: `${title}: PostgreSQL CPU µs per event`,
          ours: median(of.map(({ clusterCPU }) => clusterCPU)).toFixed(1),
          bar: '',
        },
      ];
    });
  } finally {
    load.stop();
    await server.stop();
    await bare.close();
  }
};

/** Times sequential requests. Returns milliseconds, ascending. */
const measureTimes = async (count: number, work: (nth: number) => Promise<unknown>): Promise<number[]> => {
  const times: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const startTime = performance.now();
    await work(nth);
    times.push(performance.now() - startTime);
  }
  return times.sort((a, b) => a - b);
};
const quantileOf = (times: readonly number[], share: number): number =>
  times[Math.floor(times.length * share)] ?? Number.NaN;

/** Waits until PostgreSQL and the disk have finished their background work, so that it is not measured. */
const waitUntilIdle = async (databaseURL: string, { quick }: Options): Promise<void> => {
  await withClient(databaseURL, async (client) => {
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  });
  await wait(quick ? 1_000 : 20_000);
};

/** Measures reads and linking over a month of history. */
const measureReads = async (databaseURL: string, events: number): Promise<Row[]> => {
  const { store, caller } = await openBenchmark(databaseURL);
  const { account, token } = caller;
  const time = Date.now();
  const random = createRandom(7);
  const { contactUUID } = await store.createContact(newContact(caller, 0, time));
  const { contactUUID: other } = await store.createContact(newContact(caller, 1, time));
  const newest = (filter: object) => store.getEvents({ account, order: 'desc', limit: 50, ...filter });
  const link = (to: string) => store.linkUser({ account, token, userUUID: busiestUser, contactUUID: to, time });
  const users = countUsers(events);
  const measurements: { title: string; count: number; work: (nth: number) => Promise<unknown>; bar: string }[] = [
    {
      title: 'newest 50 of the contact with the most events',
      count: 300,
      work: () => newest({ contactUUID }),
      bar: '< 10',
    },
    {
      title: 'newest 50 of any user',
      count: 300,
      work: () => newest({ userUUID: userName(Math.floor(random() * users)) }),
      bar: '< 10',
    },
    { title: 'newest 50 of the account', count: 300, work: () => newest({}), bar: '< 10' },
    {
      title: `linking a user with ${whole(countBusiestEvents(events))} events`,
      count: 60,
      // Alternates between two contacts. Each call reads all of the user's links so far.
      work: (nth) => link(nth % 2 === 0 ? other : contactUUID),
      bar: '< 5',
    },
  ];
  const rows: Row[] = [];
  for (const { title, count, work, bar } of measurements) {
    const figures: { p50: number; p99: number }[] = [];
    for (let round = -1; round < readRounds; round += 1) {
      const times = await measureTimes(count, work);
      // The first round is a warm-up: a running server has already run these queries.
      if (round >= 0) figures.push({ p50: quantileOf(times, 0.5), p99: quantileOf(times, 0.99) });
    }
    const [p99, p50] = (['p99', 'p50'] as const).map((share) =>
      median(figures.map((figure) => figure[share])).toFixed(1),
    );
    rows.push({ measured: `${title}: p99 ms (p50)`, ours: `${p99} (${p50})`, bar });
  }
  await store.close();
  return rows;
};

const measureBytes = async (databaseURL: string, events: number): Promise<Row[]> => {
  const { store, caller } = await openBenchmark(databaseURL);
  const size = () =>
    withClient(databaseURL, async (client) => {
      await client.query('VACUUM');
      const { rows } = await client.query(
        `SELECT regexp_replace(relname, '(_\\d+)+', '') AS part, sum(pg_total_relation_size(oid))::float8 AS bytes
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 2 DESC`,
      );
      return rows as { part: string; bytes: number }[];
    });
  const next = createVisits(events);
  const start = Date.now() - 30 * dayMilliseconds;
  const timeOf = (created: number) => Math.floor(start + (created / events) * 30 * dayMilliseconds);
  const limiter = createLimiter(2);
  for (let created = 0; created < events; created += eventsPerBatch) {
    const time = timeOf(created);
    const batch = Array.from({ length: eventsPerBatch }, () => next(time).event);
    await limiter.add(() => storeAll(store, caller, time, batch));
  }
  await limiter.end();
  await store.close();
  const parts = await size();
  const cells = parts.slice(0, 8).map(({ part, bytes }) => [part, (bytes / events).toFixed(1)]);
  console.log(`${table(['part of a month of history', 'bytes per event'], cells)}\n`);
  const all = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  return [{ measured: 'a month of history: bytes per event', ours: (all / events).toFixed(0), bar: '≤ 200' }];
};

export const run = (options: Options): Promise<Row[]> =>
  withPostgres(async (postgres) => {
    const speed = await measureSpeed(postgres, options);
    const month = await postgres.createDatabase('month');
    const bytes = await measureBytes(month, options.events);
    await waitUntilIdle(month, options);
    return [...speed, ...bytes, ...(await measureReads(month, options.events))];
  });
