/**
 * What can one machine carry, and what can several servers over one PostgreSQL? Computes from measured figures how many events a second fill
 * the processor, and how many fill the disk. SCALING.md has the conclusions.
 */
import type { Row } from '../question.ts';
import { whole } from '../table.ts';

/** The share of a machine that the busiest hour may use. */
const busiest = 0.6;
/** The ratio of the busiest second to the average. */
const peak = 5;
const secondsPerDay = 86_400;
const diskBytes = 1e12;

/**
 * Processor time of one event in microseconds, and its bytes on the disk. Of SQLite from RESULTS.md (`ingest`, `size`), of
 * PostgreSQL from `npm run bench -- postgres`: singles, as browsers send them, and batches.
 */
const measured = {
  /** On the busiest thread, which is the bottleneck. */
  sqlite: { single: 28, batch: 10, bytes: 97 },
  /** Of the server process, which has one such thread. */
  server: { single: 130, batch: 19 },
  /** Of PostgreSQL, on all cores. */
  postgres: { single: 68.5, batch: 20.7, bytes: 194 },
};

/** Bare inserts a second on the machine of the SQLite figures and on that of the PostgreSQL figures, which are scaled to the first. */
const slower = 227_000 / 105_841;

const perSecond = (microseconds: number, cores = 1): number => (busiest * cores * 1e6) / microseconds;

interface Carried {
  readonly what: string;
  readonly single: number;
  readonly batch: number;
  readonly bytes: number;
}

const carried = (): Carried[] => {
  const { sqlite, server, postgres } = measured;
  const servers = (count: number) => ({
    single: count * perSecond(server.single / slower),
    batch: count * perSecond(server.batch / slower),
  });
  const database = (cores: number) => ({
    single: perSecond(postgres.single / slower, cores),
    batch: perSecond(postgres.batch / slower, cores),
  });
  const both = (count: number, cores: number) => ({
    single: Math.min(servers(count).single, database(cores).single),
    batch: Math.min(servers(count).batch, database(cores).batch),
  });
  const { bytes } = postgres;
  return [
    {
      what: 'one machine, SQLite',
      single: perSecond(sqlite.single),
      batch: perSecond(sqlite.batch),
      bytes: sqlite.bytes,
    },
    { what: '2 servers, one PostgreSQL of 4 cores', ...both(2, 4), bytes },
    { what: '8 servers, one PostgreSQL of 16 cores', ...both(8, 16), bytes },
  ];
};

export const run = async (): Promise<Row[]> =>
  carried().flatMap(({ what, single, batch, bytes }) => [
    { measured: `${what}: single events a second (in batches)`, ours: `${whole(single)} (${whole(batch)})`, bar: '' },
    {
      measured: `${what}: million events a day, when the busiest second has ${peak} times the average`,
      ours: ((single * secondsPerDay) / peak / 1e6).toFixed(0),
      bar: '',
    },
    {
      measured: `${what}: billion events on 1 TB`,
      ours: (diskBytes / bytes / 1e9).toFixed(1),
      bar: '',
    },
  ]);
