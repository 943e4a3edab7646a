/**
 * What does the same cost on PostgreSQL? Singles and batches over HTTP beside bare inserts of the same rows, by turns; and the
 * bytes that an event takes. The PostgreSQL is one that npm brings, in a folder of its own, with its settings but for
 * memory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, stopPostgres, urlOf } from '../test/fixtures/postgres-server.ts';
import { openBenchmark, serverToken } from './account.ts';
import { openBareInserts } from './bare-unnest.ts';
import { createFlight, eventsPerBatch, keepAll } from './filling.ts';
import type { LoadResult } from './load.ts';
import { startLoad } from './loads.ts';
import { cpuSeconds } from './process.ts';
import type { Options, Row } from './question.ts';
import { startServer } from './servers.ts';
import { median, ratio, table, whole } from './table.ts';
import { createVisits } from './visits.ts';

const shapes = [
  { events: 1, connections: 64, bar: '' },
  { events: 100, connections: 16, bar: '≥ 0.7' },
] as const;
/** As many as a server of ours uses to keep events. */
const bareConnections = 4;
const dayMilliseconds = 86_400_000;

const ask = async <Result>(databaseURL: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> => {
  const client = new pg.Client(databaseURL);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const measureSpeed = async (urls: { ours: string; bare: string }, { quick }: Options): Promise<Row[]> => {
  const milliseconds = quick ? 2_000 : 5_000;
  const rounds = quick ? 1 : 3;
  const next = createVisits(1_000_000);
  const nextBatch = () => Array.from({ length: 100 }, () => next(Date.now()).event);
  const bare = await openBareInserts(urls.bare, bareConnections);
  const server = await startServer('durable', urls.ours);
  const load = startLoad();
  try {
    const floors: number[] = [];
    const results = new Map(shapes.map((shape) => [shape, [] as (LoadResult & { cpu: number })[]]));
    for (let round = -1; round < rounds; round += 1) {
      const floor = await bare.run(nextBatch, milliseconds);
      if (round >= 0) floors.push(floor);
      for (const shape of shapes) {
        const { events, connections } = shape;
        const before = cpuSeconds(server.pid) ?? Number.NaN;
        const request = { events };
        const result = await load.run({ port: server.port, token: serverToken, connections, request, milliseconds });
        const cpu = (((cpuSeconds(server.pid) ?? Number.NaN) - before) * 1e6) / result.events;
        if (round >= 0) results.get(shape)?.push({ ...result, cpu });
      }
    }
    const floor = median(floors);
    return shapes.flatMap((shape): Row[] => {
      const { events, connections, bar } = shape;
      const of = results.get(shape) ?? [];
      const ours = median(of.map(({ eventsPerSecond }) => eventsPerSecond));
      const what = `${events} a request, ${connections} connections`;
      return [
        {
          measured: `${what}: events/s, beside bare inserts of 100 on ${bareConnections} connections`,
          floor: whole(floor),
          ours: whole(ours),
          ratio: ratio(ours, floor),
          bar,
        },
        { measured: `${what}: p99 ms`, ours: median(of.map(({ p99 }) => p99)).toFixed(1), bar: '' },
        {
          measured: `${what}: CPU µs of the server for an event`,
          ours: median(of.map(({ cpu }) => cpu)).toFixed(1),
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

const measureBytes = async (databaseURL: string, events: number): Promise<Row[]> => {
  const { store, asker } = await openBenchmark(databaseURL);
  const size = () =>
    ask(databaseURL, async (client) => {
      await client.query('VACUUM');
      const { rows } = await client.query(
        `SELECT regexp_replace(relname, '(_\\d+)+', '') AS part, sum(pg_total_relation_size(oid))::float8 AS bytes
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 2 DESC`,
      );
      return rows as { part: string; bytes: number }[];
    });
  const next = createVisits(events);
  const start = Date.now() - 30 * dayMilliseconds;
  const timeOf = (made: number) => Math.floor(start + (made / events) * 30 * dayMilliseconds);
  const flight = createFlight(1);
  for (let made = 0; made < events; made += eventsPerBatch) {
    const time = timeOf(made);
    const batch = Array.from({ length: eventsPerBatch }, () => next(time).event);
    await flight.add(() => keepAll(store, asker, time, batch));
  }
  await flight.end();
  await store.close();
  const parts = await size();
  const cells = parts.slice(0, 8).map(({ part, bytes }) => [part, (bytes / events).toFixed(1)]);
  console.log(`${table(['part of a month of history', 'bytes for an event'], cells)}\n`);
  const all = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  return [{ measured: 'a month of history: bytes for an event', ours: (all / events).toFixed(0), bar: '≤ 200' }];
};

export const run = async (options: Options): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-postgres-'));
  await startPostgres(folder);
  try {
    const [ours, bare, month] = ['ours', 'bare', 'month'].map((name) => urlOf(folder, name)) as [
      string,
      string,
      string,
    ];
    await ask(urlOf(folder, 'postgres'), async (client) => {
      for (const name of ['ours', 'bare', 'month']) await client.query(`CREATE DATABASE ${name}`);
    });
    const speed = await measureSpeed({ ours, bare }, options);
    return [...speed, ...(await measureBytes(month, options.quick ? 200_000 : 1_000_000))];
  } finally {
    await stopPostgres(folder, 'immediate');
    rmSync(folder, { recursive: true });
  }
};
