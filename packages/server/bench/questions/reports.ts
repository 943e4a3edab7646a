/**
 * How long does a report take, beside plain SQL over the same Parquet files, and beside PostgreSQL with the same events as plain rows? Each
 * has about the same memory, and two threads. The events come from a feed that makes them (reported.ts), so that building does not measure
 * a store. All must return the same figures. Last, what reports cost ingestion.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReports, type ReportsOptions } from '../../src/reports/reports.ts';
import { type OwnPostgres, withPostgres } from '../processes/own-postgres.ts';
import type { Options, Row } from '../question.ts';
import { createReportedFeed } from '../reported.ts';
import { reportsOver } from '../reports/asked.ts';
import { openBareParquet } from '../reports/bare-parquet.ts';
import { buildFiles, time } from '../reports/building.ts';
import { measureIngestion } from '../reports/ingestion.ts';
import { measureReport, type Rounds } from '../reports/measuring.ts';
import { openPlainRows } from '../reports/plain-rows.ts';
import { type AskedReport, account } from '../reports/report-forms.ts';

const memory = 256 * 2 ** 20;
const threads = 2;

/** How long each database may take for a question, and how often it is asked. */
interface Effort {
  readonly limitMilliseconds: number;
  readonly rounds: Rounds;
  readonly roundsOfPostgres: Rounds;
}
const never = { most: 0, milliseconds: 0 };
const once = { most: 1, milliseconds: 0 };
/** Under 40 s, with a million events. */
const quickly: Effort = { limitMilliseconds: 10_000, rounds: { most: 3, milliseconds: 500 }, roundsOfPostgres: never };
const usually: Effort = {
  limitMilliseconds: 30_000,
  rounds: { most: 20, milliseconds: 8_000 },
  roundsOfPostgres: { most: 3, milliseconds: 3_000 },
};
/** Above ten million events, so that a run takes a quarter of an hour all the same. A server refuses a report after 10 s, too. */
const seldom: Effort = {
  limitMilliseconds: 10_000,
  rounds: { most: 3, milliseconds: 4_000 },
  roundsOfPostgres: once,
};
const effortFor = ({ quick, events }: Options): Effort => (quick ? quickly : events > 1e7 ? seldom : usually);

const barFor =
  (events: number) =>
  ({ atTenMillion }: AskedReport): string => {
    if (events === 1e6) return '≤ 120, 1.3 ×';
    return events === 1e7 && atTenMillion !== null ? `≤ ${atTenMillion}, 1.3 ×` : '≤ 1.3 ×';
  };

const measureReports = async (options: Options, folder: string, cluster: OwnPostgres | null): Promise<Row[]> => {
  const { events } = options;
  const { limitMilliseconds, rounds, roundsOfPostgres } = effortFor(options);
  const { feed, contacts } = createReportedFeed(events);
  const { reports: asked, quickest, chosen } = reportsOver(contacts);
  const files = join(folder, 'reports');
  const own = join(files, `${account}`);
  const settings: ReportsOptions = {
    feed,
    folder: files,
    memory,
    threads,
    limitMilliseconds,
    buildMilliseconds: 3_600_000,
    // A server gives reports less; here they compete with what else the machine runs on the same terms as what they are compared with.
    niceness: 0,
    onFault: console.error,
  };
  const built = await buildFiles(settings, quickest, { own, events });
  const reports = createReports(settings);
  try {
    const start = await time(() => reports.ask(quickest));
    const parquet = await openBareParquet({
      own,
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
          measured: `building the files: s${plain ? ', beside loading PostgreSQL' : ''}`,
          floor: plain ? loadingSeconds.toFixed(1) : '',
          ours: (built.milliseconds / 1_000).toFixed(1),
          bar: events === 1e7 ? '≤ 60' : '',
        },
        {
          measured: `bytes of an event in the files${plain ? ', beside its row and index' : ''}`,
          floor: plain ? (plain.bytes / events).toFixed(1) : '',
          ours: (built.bytes / events).toFixed(1),
          bar: '≤ 15',
        },
        { measured: 'first report after a start (live): ms', ours: start.toFixed(0), bar: '' },
      ];
      const postgres = plain?.rows ?? null;
      const measuring = {
        reports,
        parquet,
        postgres,
        limitMilliseconds,
        rounds,
        roundsOfPostgres,
        bar: barFor(events),
      };
      for (const report of asked) rows.push(...(await measureReport(report, measuring)));
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
