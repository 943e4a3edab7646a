/**
 * Measures how long reports take, compared with plain SQL on the same Parquet files and with PostgreSQL with the same
 * events as plain rows. All have about the same memory and two threads, and must return the same figures.
 *
 * The events come from a synthetic feed (synthetic-feed.ts), so that building files does not measure a store. Finally
 * measures how much reports slow down ingestion.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReports, type ReportsOptions } from '../../src/reports/reports.ts';
import type { Options, Row } from '../benchmark.ts';
import { type OwnPostgres, withPostgres } from '../processes/own-postgres.ts';
import { openBareParquet } from '../reports/bare-parquet.ts';
import { buildFiles, time } from '../reports/build-files.ts';
import { measureIngestion } from '../reports/ingestion.ts';
import { measureReport, type Rounds } from '../reports/measure-report.ts';
import { createMeasuredReports } from '../reports/measured-reports.ts';
import { openPlainRows } from '../reports/plain-rows.ts';
import { account, type MeasuredReport } from '../reports/report-forms.ts';
import { createSyntheticFeed } from '../synthetic-feed.ts';

const memory = 256 * 2 ** 20;
const threads = 2;

/** The time limit for a query in each database, and the number of runs. */
interface Effort {
  readonly limitMilliseconds: number;
  readonly rounds: Rounds;
  readonly postgresRounds: Rounds;
}
const never = { max: 0, milliseconds: 0 };
const once = { max: 1, milliseconds: 0 };
/** Keeps the benchmark under 40 s with a million events. */
const quickEffort: Effort = { limitMilliseconds: 10_000, rounds: { max: 3, milliseconds: 500 }, postgresRounds: never };
const defaultEffort: Effort = {
  limitMilliseconds: 30_000,
  rounds: { max: 20, milliseconds: 8_000 },
  postgresRounds: { max: 3, milliseconds: 3_000 },
};
/** For more than ten million events, so that a run takes only 15 minutes. A server also refuses a report after 10 s. */
const largeEffort: Effort = {
  limitMilliseconds: 10_000,
  rounds: { max: 3, milliseconds: 4_000 },
  postgresRounds: once,
};
const chooseEffort = ({ quick, events }: Options): Effort =>
  quick ? quickEffort : events > 1e7 ? largeEffort : defaultEffort;

const createBar =
  (events: number) =>
  ({ atTenMillion }: MeasuredReport): string => {
    if (events === 1e6) return '≤ 120, 1.3 ×';
    return events === 1e7 && atTenMillion !== null ? `≤ ${atTenMillion}, 1.3 ×` : '≤ 1.3 ×';
  };

const measureReports = async (options: Options, folder: string, cluster: OwnPostgres | null): Promise<Row[]> => {
  const { events } = options;
  const { limitMilliseconds, rounds, postgresRounds } = chooseEffort(options);
  const { feed, contacts } = createSyntheticFeed(events);
  const { reports: measuredReports, quickest, chosen } = createMeasuredReports(contacts);
  const files = join(folder, 'reports');
  const accountFolder = join(files, `${account}`);
  const settings: ReportsOptions = {
    feed,
    folder: files,
    memory,
    threads,
    limitMilliseconds,
    buildMilliseconds: 3_600_000,
    // A server uses a lower priority; here both sides must compete equally with other work on the machine.
    niceness: 0,
    onFault: console.error,
  };
  const built = await buildFiles(settings, quickest, { accountFolder, events });
  const reports = createReports(settings);
  try {
    const start = await time(() => reports.run(quickest));
    const parquet = await openBareParquet({
      accountFolder,
      spill: join(folder, 'spill'),
      memory,
      threads,
      limitMilliseconds,
      chosen,
    });
    const loading = performance.now();
    const database = cluster ? await cluster.createDatabase('reports') : null;
    const plain =
      database === null ? null : await openPlainRows({ database, feed, account, limitMilliseconds, chosen });
    const loadingSeconds = (performance.now() - loading) / 1_000;
    try {
      const rows: Row[] = [
        {
          measured: `building the files: s${plain ? ' vs. loading PostgreSQL' : ''}`,
          floor: plain ? loadingSeconds.toFixed(1) : '',
          ours: (built.milliseconds / 1_000).toFixed(1),
          bar: events === 1e7 ? '≤ 60' : '',
        },
        {
          measured: `bytes per event in the files${plain ? ' vs. its row and index' : ''}`,
          floor: plain ? (plain.bytes / events).toFixed(1) : '',
          ours: (built.bytes / events).toFixed(1),
          bar: '≤ 15',
        },
        { measured: 'first report after a start (live): ms', ours: start.toFixed(0), bar: '' },
      ];
      const postgres = plain?.rows ?? null;
      const benchmark = {
        reports,
        parquet,
        postgres,
        limitMilliseconds,
        rounds,
        postgresRounds,
        bar: createBar(events),
      };
      for (const report of measuredReports) rows.push(...(await measureReport(report, benchmark)));
      return rows;
    } finally {
      await plain?.close();
    }
  } finally {
    await reports.close();
  }
};

export const run = async (options: Options): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-bench-reports-'));
  try {
    const measured = options.quick
      ? await measureReports(options, folder, null)
      : await withPostgres((cluster) => measureReports(options, folder, cluster));
    return [...measured, ...(await measureIngestion(options))];
  } finally {
    rmSync(folder, { recursive: true });
  }
};
