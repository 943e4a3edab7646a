/**
 * What does one machine carry, and what a cluster? A calculation from measured figures, no measurement: so many events a second
 * until the processor is busy, and so many in all until the disk is full. SCALING.md says what follows from it.
 */
import type { Row } from './question.ts';
import { whole } from './table.ts';

/** Of a machine; the busiest hour is to leave room for the others. */
const busiest = 0.6;
/** The busiest second beside the average one. */
const peak = 5;
const secondsPerDay = 86_400;
const diskBytes = 1e12;

/**
 * Processor time of one event in microseconds, and its bytes on the disk. Of SQLite from RESULTS.md (`ingest`, `size`), of
 * PostgreSQL from `npm run bench -- postgres`: singles, as browsers send them, and batches.
 */
const measured = {
  /** On the thread that does most of it: it is what is full first. */
  sqlite: { single: 28, batch: 10, bytes: 97 },
  /** Of the server process, which has one such thread. */
  server: { single: 130, batch: 19 },
  /** Of PostgreSQL, on all cores. */
  postgres: { single: 68.5, batch: 20.7, bytes: 194 },
};

/** Bare inserts a second where SQLite was measured, and where PostgreSQL was: all is told at the speed of the first. */
const slower = 227_000 / 105_841;

/** What Citus adds to an event: each commit is one of several machines (two-phase). Assumed, not measured. */
const citusFactor = 2;

const perSecond = (microseconds: number, cores = 1): number => (busiest * cores * 1e6) / microseconds;

interface Carried {
  readonly what: string;
  readonly single: number;
  readonly batch: number;
  readonly bytes: number;
  readonly disks: number;
}

const carried = (): Carried[] => {
  const { sqlite, server, postgres } = measured;
  const servers = (count: number) => ({
    single: count * perSecond(server.single / slower),
    batch: count * perSecond(server.batch / slower),
  });
  const database = (cores: number, factor: number) => ({
    single: perSecond((postgres.single * factor) / slower, cores),
    batch: perSecond((postgres.batch * factor) / slower, cores),
  });
  const both = (count: number, cores: number, factor: number) => ({
    single: Math.min(servers(count).single, database(cores, factor).single),
    batch: Math.min(servers(count).batch, database(cores, factor).batch),
  });
  const { bytes } = postgres;
  return [
    {
      what: 'one machine, SQLite',
      single: perSecond(sqlite.single),
      batch: perSecond(sqlite.batch),
      bytes: sqlite.bytes,
      disks: 1,
    },
    { what: '2 servers, one PostgreSQL of 4 cores', ...both(2, 4, 1), bytes, disks: 1 },
    { what: '8 servers, one PostgreSQL of 16 cores', ...both(8, 16, 1), bytes, disks: 1 },
    ...[4, 16].map((machines) => ({
      what: `${4 * machines} servers, a Citus cluster of ${machines} with 16 cores each`,
      ...both(4 * machines, 16 * machines, citusFactor),
      bytes,
      disks: machines,
    })),
  ];
};

export const run = async (): Promise<Row[]> =>
  carried().flatMap(({ what, single, batch, bytes, disks }) => [
    { measured: `${what}: single events a second (in batches)`, ours: `${whole(single)} (${whole(batch)})`, bar: '' },
    {
      measured: `${what}: million events a day, when the busiest second has ${peak} times the average`,
      ours: ((single * secondsPerDay) / peak / 1e6).toFixed(0),
      bar: '',
    },
    {
      measured: `${what}: billion events on ${disks} TB`,
      ours: ((disks * diskBytes) / bytes / 1e9).toFixed(1),
      bar: '',
    },
  ]);
