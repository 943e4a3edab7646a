/**
 * How long does a report take, beside the SQL that an analyst would write over the same files? Both run with the same memory and threads,
 * in turns. The events come from a feed that makes them (reported.ts), so that building does not measure a store.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Question } from '../../src/reports/questions.ts';
import { createReports } from '../../src/reports/reports.ts';
import { createLatencies } from '../latencies.ts';
import type { Options, Row } from '../question.ts';
import { bought, createReportedFeed, days, firstTime, priced, viewed } from '../reported.ts';
import { ratio } from '../table.ts';

const account = 1;
const day = 86_400_000;
const to = firstTime + days * day;
const memory = 256 * 2 ** 20;
const threads = 2;
const everyDay = Array.from({ length: days + 1 }, (_, nth) => firstTime + nth * day);
const everyWeek = [...everyDay.filter((_, nth) => nth % 7 === 0), to];
const asked = { account, from: firstTime, to, robots: false, condition: null };
const steps = [viewed, priced, bought].map((eventID) => ({ eventIDs: [eventID] }));

const inRange = `"eventTime" >= ${firstTime} AND "eventTime" < ${to} AND NOT robot`;
const owned = `SELECT e.*, coalesce(o.contact, -e."user") AS person FROM events e
  LEFT JOIN owners o ON o."user" = e."user" AND o.after < e.sequence AND e.sequence <= o.through WHERE ${inRange}`;
const inSessions = `WITH owned AS (${owned}),
  marked AS (SELECT *, coalesce("eventTime" - lag("eventTime") OVER w >= 1800000, true) AS begins FROM owned
    WINDOW w AS (PARTITION BY "user" ORDER BY "eventTime", sequence)),
  hits AS (SELECT *, sum(begins::INTEGER) OVER (PARTITION BY "user" ORDER BY "eventTime", sequence) AS session FROM marked)`;
const measures = 'count(*), count(DISTINCT "user"), count(DISTINCT person), count(DISTINCT "user" * 1000000 + session)';
const before =
  'OVER (PARTITION BY person ORDER BY "eventTime", sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)';
const week = 7 * day;

interface Measured {
  readonly name: string;
  readonly question: Question;
  /** SQL over the views `events` and `owners` that answers the same. */
  readonly floor: string;
  /** The promised milliseconds at 10 million events; at one million all are promised in 120. */
  readonly atTenMillion: number;
}

const breakdown = (attrID: string, column: string): Measured => ({
  name: `breakdown by ${attrID}`,
  question: {
    ...asked,
    report: 'breakdown',
    value: null,
    dimensions: [{ attrID }],
    offsets: [[firstTime, 0]],
    sort: 'people',
    limit: 10,
  },
  floor: `${inSessions} SELECT ${column}, ${measures} FROM hits GROUP BY GROUPING SETS ((), (${column})) ORDER BY 3 DESC LIMIT 11`,
  atTenMillion: 500,
});

const questions: readonly Measured[] = [
  {
    name: 'totals of a month by day',
    question: { ...asked, report: 'totals', value: null, edges: everyDay },
    floor: `${inSessions} SELECT ("eventTime" - ${firstTime}) // ${day} AS d, ${measures} FROM hits GROUP BY GROUPING SETS ((), (d))`,
    atTenMillion: 200,
  },
  breakdown('path', 'a0'),
  breakdown('browser', 'a1'),
  {
    name: 'funnel of three steps',
    question: { ...asked, report: 'funnel', steps, withinMilliseconds: week, per: 'person' },
    floor: `WITH owned AS (${owned}),
      one AS (SELECT *, max(CASE WHEN "eventID" = ${viewed} THEN "eventTime" END) ${before} AS first FROM owned),
      two AS (SELECT *, max(CASE WHEN "eventID" = ${priced} AND "eventTime" - first <= ${week} THEN first END) ${before} AS second FROM one)
      SELECT count(DISTINCT person) FILTER ("eventID" = ${viewed}),
        count(DISTINCT person) FILTER ("eventID" = ${priced} AND "eventTime" - first <= ${week}),
        count(DISTINCT person) FILTER ("eventID" = ${bought} AND "eventTime" - second <= ${week}) FROM two`,
    atTenMillion: 900,
  },
  {
    name: 'retention by week',
    question: { ...asked, report: 'retention', first: null, back: null, edges: everyWeek },
    floor: `WITH weeks AS (SELECT person, ("eventTime" - ${firstTime}) // ${week} AS week, count(*) AS events FROM (${owned}) GROUP BY person, week),
      cohorts AS (SELECT person, min(week) AS cohort FROM weeks GROUP BY person)
      SELECT cohort, week, count(*), count_if(events > 1) FROM weeks JOIN cohorts USING (person) GROUP BY cohort, week`,
    atTenMillion: 700,
  },
];

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** The processor time that a process has used, in milliseconds: other load on the machine does not change it. */
const cpuMilliseconds = (processID: number | undefined): number => {
  // proc(5): utime and stime, in ticks of 10 ms, are the 14th and 15th field; the second is in parentheses.
  const fields = readFileSync(`/proc/${processID}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return 10 * (Number(fields[11]) + Number(fields[12]));
};

const openFloor = async (folder: string): Promise<DuckDBConnection> => {
  const filesOf = (kind: string) =>
    readdirSync(folder)
      .filter((name) => name.startsWith(kind))
      .map((name) => `'${join(folder, name)}'`)
      .join(', ');
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '256MiB', threads: `${threads}` });
  const connection = await instance.connect();
  await connection.run(`CREATE VIEW events AS SELECT * FROM read_parquet([${filesOf('events')}])`);
  await connection.run(`CREATE TABLE owners AS SELECT * FROM read_parquet([${filesOf('owners')}])`);
  return connection;
};

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-bench-reports-'));
  const { feed } = createReportedFeed(events);
  const open = () =>
    createReports({
      feed,
      folder,
      memory,
      threads,
      limitMilliseconds: 60_000,
      buildMilliseconds: 3_600_000,
      onFault: console.error,
    });
  const first = open();
  try {
    const [{ question: anyQuestion }] = questions as readonly [Measured, ...Measured[]];
    const buildMilliseconds = await time(() => first.ask(anyQuestion));
    await first.close();
    const own = join(folder, `${account}`);
    const bytes = readdirSync(own).reduce((sum, name) => sum + statSync(join(own, name)).size, 0);
    const reports = open();
    const startMilliseconds = await time(() => reports.ask(anyQuestion));
    const floor = await openFloor(own);
    const rows: Row[] = [
      {
        measured: 'building the files: µs an event',
        ours: ((buildMilliseconds * 1000) / events).toFixed(2),
        bar: '≤ 6',
      },
      { measured: 'bytes of files for an event', ours: (bytes / events).toFixed(1), bar: '≤ 15' },
      { measured: 'first report after a start: ms', ours: startMilliseconds.toFixed(0), bar: '' },
    ];
    for (const { name, question, floor: sql, atTenMillion } of questions) {
      const [ours, theirs] = [createLatencies(), createLatencies()];
      const rounds = quick ? 5 : 20;
      let [ourCPU, floorCPU] = [0, 0];
      for (let round = 0; round < rounds; round += 1) {
        ourCPU -= cpuMilliseconds(reports.processID);
        ours.record(await time(() => reports.ask(question)));
        ourCPU += cpuMilliseconds(reports.processID);
        floorCPU -= cpuMilliseconds(process.pid);
        theirs.record(await time(() => floor.run(sql)));
        floorCPU += cpuMilliseconds(process.pid);
      }
      const bar = events === 1e6 ? '≤ 120' : events === 1e7 ? `≤ ${atTenMillion}` : '';
      const of = (share: number) => [theirs.quantile(share).toFixed(0), ours.quantile(share).toFixed(0)] as const;
      const [floorP50, p50] = of(0.5);
      const [floorP99, p99] = of(0.99);
      rows.push({
        measured: `${name}: p50 ms, beside plain SQL (≤ 1.3)`,
        floor: floorP50,
        ours: p50,
        ratio: ratio(ours.quantile(0.5), theirs.quantile(0.5)),
        bar,
      });
      rows.push({ measured: `${name}: p99 ms`, floor: floorP99, ours: p99, bar: '' });
      rows.push({
        measured: `${name}: CPU ms`,
        floor: (floorCPU / rounds).toFixed(0),
        ours: (ourCPU / rounds).toFixed(0),
        ratio: ratio(ourCPU, floorCPU),
        bar: '',
      });
    }
    await reports.close();
    return rows;
  } finally {
    await first.close();
    rmSync(folder, { recursive: true });
  }
};
