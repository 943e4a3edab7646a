/** Times reports and reference databases alternately. */

import type { FiledReports } from '../../src/reports/reports.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import type { Row } from '../benchmark.ts';
import { cpuSeconds } from '../processes/process.ts';
import { ratio, whole } from '../table.ts';
import { type ReferenceDatabase, requireSameRows, TooSlow } from './reference-database.ts';
import type { Cell, MeasuredReport } from './report-forms.ts';

export interface Rounds {
  readonly max: number;
  /** No round starts after this time. */
  readonly milliseconds: number;
}

type Rows = readonly (readonly Cell[])[];

interface TimedQuery {
  readonly times: number[];
  readonly cpu: number[];
  /** Why the query could not be timed; null if it was timed. */
  readonly failure: string | null;
  /** Returns the rows; undefined if this or an earlier run failed. */
  run(): Promise<Rows | undefined>;
}

const createTimedQuery = (query: () => Promise<Rows>, cpuMilliseconds: () => number): TimedQuery => {
  const times: number[] = [];
  const cpu: number[] = [];
  let failure: string | null = null;
  return {
    times,
    cpu,
    get failure() {
      return failure;
    },
    async run() {
      if (failure !== null) return undefined;
      const cpuBefore = cpuMilliseconds();
      const startTime = performance.now();
      try {
        const rows = await query();
        times.push(performance.now() - startTime);
        cpu.push(cpuMilliseconds() - cpuBefore);
        return rows;
      } catch (error) {
        if (!(error instanceof TooSlow)) throw error;
        failure = error.message;
        return undefined;
      }
    },
  };
};

/** Runs `work` as often as time allows, at least once. */
const runRounds = async ({ max, milliseconds }: Rounds, work: (round: number) => Promise<void>): Promise<void> => {
  const startTime = performance.now();
  for (let round = 0; round < max; round += 1) {
    await work(round);
    if (performance.now() - startTime > milliseconds) return;
  }
};

/** Sorts the figures. Drops the first, which is a warm-up, unless it is the only one. */
const sortWithoutWarmup = (figures: readonly number[]): number[] =>
  (figures.length > 1 ? figures.slice(1) : [...figures]).sort((a, b) => a - b);
const quantile = (figures: readonly number[], share: number): number => {
  const sorted = sortWithoutWarmup(figures);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
const average = (figures: readonly number[]): number => {
  const list = sortWithoutWarmup(figures);
  return list.reduce((sum, figure) => sum + figure, 0) / list.length;
};
const formatTimes = ({ times, failure }: TimedQuery): string => {
  if (failure !== null) return failure;
  const p50 = whole(quantile(times, 0.5));
  return sortWithoutWarmup(times).length > 1 ? `${p50} (${whole(quantile(times, 0.99))})` : p50;
};
const formatNumber = (figure: number): string => (Number.isNaN(figure) ? '' : whole(figure));
const formatRatio = (ours: number, theirs: number): string => (Number.isNaN(ours / theirs) ? '' : ratio(ours, theirs));

export interface ReportBenchmark {
  readonly reports: FiledReports;
  readonly parquet: ReferenceDatabase;
  readonly postgres: ReferenceDatabase | null;
  readonly limitMilliseconds: number;
  readonly rounds: Rounds;
  /** PostgreSQL takes the longest, so it has the fewest rounds. */
  readonly postgresRounds: Rounds;
  /** A report's target. */
  bar(report: MeasuredReport): string;
}

/** Throws if a report and a reference database return different figures. */
export const measureReport = async (report: MeasuredReport, measuring: ReportBenchmark): Promise<Row[]> => {
  const { name, query, sql } = report;
  const { reports, parquet, postgres, limitMilliseconds, rounds, postgresRounds } = measuring;
  let first: Rows | undefined;
  const ours = createTimedQuery(
    async () => {
      try {
        return report.rowsOf((await reports.run(query)).result);
      } catch (error) {
        const isSlow = error instanceof Refusal && error.code === 'report_too_slow';
        throw isSlow
          ? new TooSlow(/memory/.test(error.message) ? 'no memory' : `> ${whole(limitMilliseconds)}`)
          : error;
      }
    },
    () => 1_000 * (cpuSeconds(reports.processID ?? 0) ?? Number.NaN),
  );
  const timeQuery = (reference: ReferenceDatabase) =>
    createTimedQuery(() => reference.query(sql), reference.cpuMilliseconds ?? (() => Number.NaN));
  const parquetQuery = timeQuery(parquet);
  await runRounds(rounds, async (round) => {
    const ownRows = await ours.run();
    const theirs = await parquetQuery.run();
    if (round === 0 && ownRows && theirs)
      requireSameRows(`the figures of "${name}" and of ${parquet.name}`, ownRows, theirs);
    first ??= ownRows ?? theirs;
  });
  const row = (measured: string, theirs: TimedQuery, bar: string): Row => {
    const quotient = formatRatio(quantile(ours.times, 0.5), quantile(theirs.times, 0.5));
    return { measured, floor: formatTimes(theirs), ours: formatTimes(ours), ratio: quotient, bar };
  };
  const [ownCPU, theirCPU] = [average(ours.cpu), average(parquetQuery.cpu)];
  const rows: Row[] = [
    row(`${name}: p50 (p99) ms`, parquetQuery, measuring.bar(report)),
    {
      measured: `${name}: CPU ms`,
      floor: formatNumber(theirCPU),
      ours: formatNumber(ownCPU),
      ratio: formatRatio(ownCPU, theirCPU),
      bar: '',
    },
  ];
  if (postgres === null) return rows;
  const postgresQuery = timeQuery(postgres);
  await runRounds(postgresRounds, async (round) => {
    const theirs = await postgresQuery.run();
    if (round === 0 && first && theirs)
      requireSameRows(`the figures of "${name}" and of ${postgres.name}`, first, theirs);
  });
  return [...rows, row(`${name}: vs. ${postgres.name}`, postgresQuery, '')];
};
