/**
 * Estimates the capacity of one machine, and of several servers with one PostgreSQL server. Computes from measured
 * figures how many events per second saturate the CPU, and how many events fill the disk. SCALING.md has the
 * conclusions.
 */
import type { Row } from '../benchmark.ts';
import { whole } from '../table.ts';

/** The maximum share of a machine's CPU time to use in the busiest hour. */
const maxLoadShare = 0.6;
/** The ratio of the busiest second to the average. */
const peak = 5;
const secondsPerDay = 86_400;
const diskBytes = 1e12;

/**
 * CPU time per event in microseconds, for single events, as browsers send them, and batches; and bytes on disk.
 * SQLite's figures are from RESULTS.md (`ingest`, `size`), PostgreSQL's from `npm run bench -- postgres`.
 */
const measured = {
  /** Only the busiest thread, which is the bottleneck. */
  sqlite: { single: 28, batch: 10, bytes: 97 },
  /** The server process when it uses PostgreSQL. Only one of its threads is busy. */
  server: { single: 130, batch: 19 },
  /** PostgreSQL, on all cores. */
  postgres: { single: 68.5, batch: 20.7, bytes: 194 },
};

/**
 * The ratio of bare inserts per second on the machines where SQLite and PostgreSQL were measured, to scale the latter.
 */
const machineRatio = 227_000 / 105_841;

const perSecond = (microseconds: number, cores = 1): number => (maxLoadShare * cores * 1e6) / microseconds;

interface Capacity {
  readonly title: string;
  readonly single: number;
  readonly batch: number;
  readonly bytes: number;
}

const computeCapacities = (): Capacity[] => {
  const { sqlite, server, postgres } = measured;
  const servers = (count: number) => ({
    single: count * perSecond(server.single / machineRatio),
    batch: count * perSecond(server.batch / machineRatio),
  });
  const database = (cores: number) => ({
    single: perSecond(postgres.single / machineRatio, cores),
    batch: perSecond(postgres.batch / machineRatio, cores),
  });
  const both = (count: number, cores: number) => ({
    single: Math.min(servers(count).single, database(cores).single),
    batch: Math.min(servers(count).batch, database(cores).batch),
  });
  const { bytes } = postgres;
  return [
    {
      title: 'one machine, SQLite',
      single: perSecond(sqlite.single),
      batch: perSecond(sqlite.batch),
      bytes: sqlite.bytes,
    },
    { title: '2 servers, one PostgreSQL of 4 cores', ...both(2, 4), bytes },
    { title: '8 servers, one PostgreSQL of 16 cores', ...both(8, 16), bytes },
  ];
};

export const run = async (): Promise<Row[]> =>
  computeCapacities().flatMap(({ title, single, batch, bytes }) => [
    {
      measured: `${title}: single events per second (in batches)`,
      ours: `${whole(single)} (${whole(batch)})`,
      bar: '',
    },
    {
      measured: `${title}: million events per day if the busiest second has ${peak} times the average`,
      ours: ((single * secondsPerDay) / peak / 1e6).toFixed(0),
      bar: '',
    },
    {
      measured: `${title}: billion events on 1 TB`,
      ours: (diskBytes / bytes / 1e9).toFixed(1),
      bar: '',
    },
  ]);
