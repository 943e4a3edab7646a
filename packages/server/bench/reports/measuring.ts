/** Times reports and what they are compared with, in turns. */

import type { FiledReports } from '../../src/reports/reports.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import { cpuSeconds } from '../processes/process.ts';
import type { Row } from '../question.ts';
import { ratio, whole } from '../table.ts';
import { type Compared, insistOnSame, TooSlow } from './compared.ts';
import type { AskedReport, Cell } from './report-forms.ts';

export interface Rounds {
  readonly most: number;
  /** No further round begins after this time. */
  readonly milliseconds: number;
}

type Rows = readonly (readonly Cell[])[];

interface Timed {
  readonly times: number[];
  readonly cpu: number[];
  /** Why there is no time; null: there is one. */
  readonly failed: string | null;
  /** Returns the rows; undefined if it fails, or has failed before. */
  run(): Promise<Rows | undefined>;
}

const createTimed = (ask: () => Promise<Rows>, cpuMilliseconds: () => number): Timed => {
  const times: number[] = [];
  const cpu: number[] = [];
  let failed: string | null = null;
  return {
    times,
    cpu,
    get failed() {
      return failed;
    },
    async run() {
      if (failed !== null) return undefined;
      const cpuBefore = cpuMilliseconds();
      const began = performance.now();
      try {
        const rows = await ask();
        times.push(performance.now() - began);
        cpu.push(cpuMilliseconds() - cpuBefore);
        return rows;
      } catch (error) {
        if (!(error instanceof TooSlow)) throw error;
        failed = error.message;
        return undefined;
      }
    },
  };
};

/** Runs `work` as often as there is time for, at least once. */
const inRounds = async ({ most, milliseconds }: Rounds, work: (round: number) => Promise<void>): Promise<void> => {
  const began = performance.now();
  for (let round = 0; round < most; round += 1) {
    await work(round);
    if (performance.now() - began > milliseconds) return;
  }
};

/** Without the first, which only warms up, unless there is no other. */
const counted = (figures: readonly number[]): number[] =>
  (figures.length > 1 ? figures.slice(1) : [...figures]).sort((a, b) => a - b);
const quantile = (figures: readonly number[], share: number): number => {
  const sorted = counted(figures);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
const average = (figures: readonly number[]): number => {
  const list = counted(figures);
  return list.reduce((sum, figure) => sum + figure, 0) / list.length;
};
const shown = ({ times, failed }: Timed): string => {
  if (failed !== null) return failed;
  const p50 = whole(quantile(times, 0.5));
  return counted(times).length > 1 ? `${p50} (${whole(quantile(times, 0.99))})` : p50;
};
const shownNumber = (figure: number): string => (Number.isNaN(figure) ? '' : whole(figure));
const ratioOf = (ours: number, theirs: number): string => (Number.isNaN(ours / theirs) ? '' : ratio(ours, theirs));

export interface Measuring {
  readonly reports: FiledReports;
  readonly parquet: Compared;
  readonly postgres: Compared | null;
  readonly limitMilliseconds: number;
  readonly rounds: Rounds;
  /** Those of PostgreSQL, which is asked least often because it takes longest. */
  readonly roundsOfPostgres: Rounds;
  /** What is promised of a report. */
  bar(report: AskedReport): string;
}

/** Throws when the figures of a report are not those of what it is compared with. */
export const measureReport = async (report: AskedReport, measuring: Measuring): Promise<Row[]> => {
  const { name, question, sql } = report;
  const { reports, parquet, postgres, limitMilliseconds, rounds, roundsOfPostgres } = measuring;
  let first: Rows | undefined;
  const ours = createTimed(
    async () => {
      try {
        return report.rowsOf((await reports.ask(question)).answer);
      } catch (error) {
        const isSlow = error instanceof Refusal && error.code === 'report_too_slow';
        throw isSlow
          ? new TooSlow(/memory/.test(error.message) ? 'no memory' : `> ${whole(limitMilliseconds)}`)
          : error;
      }
    },
    () => 1_000 * (cpuSeconds(reports.processID ?? 0) ?? Number.NaN),
  );
  const timeOf = (compared: Compared) =>
    createTimed(() => compared.ask(sql), compared.cpuMilliseconds ?? (() => Number.NaN));
  const ofParquet = timeOf(parquet);
  await inRounds(rounds, async (round) => {
    const own = await ours.run();
    const theirs = await ofParquet.run();
    if (round === 0 && own && theirs) insistOnSame(`the figures of "${name}" and of ${parquet.name}`, own, theirs);
    first ??= own ?? theirs;
  });
  const row = (measured: string, theirs: Timed, bar: string): Row => {
    const quotient = ratioOf(quantile(ours.times, 0.5), quantile(theirs.times, 0.5));
    return { measured, floor: shown(theirs), ours: shown(ours), ratio: quotient, bar };
  };
  const [ownCPU, theirCPU] = [average(ours.cpu), average(ofParquet.cpu)];
  const rows: Row[] = [
    row(`${name}: p50 (p99) ms`, ofParquet, measuring.bar(report)),
    {
      measured: `${name}: CPU ms`,
      floor: shownNumber(theirCPU),
      ours: shownNumber(ownCPU),
      ratio: ratioOf(ownCPU, theirCPU),
      bar: '',
    },
  ];
  if (postgres === null) return rows;
  const ofPostgres = timeOf(postgres);
  await inRounds(roundsOfPostgres, async (round) => {
    const theirs = await ofPostgres.run();
    if (round === 0 && first && theirs) insistOnSame(`the figures of "${name}" and of ${postgres.name}`, first, theirs);
  });
  return [...rows, row(`${name}: beside ${postgres.name}`, ofPostgres, '')];
};
