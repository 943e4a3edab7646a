/** Report benchmarks: a query, and plain SQL (plain-sql.ts) that returns the same figures. */
import type {
  BreakdownQuery,
  Condition,
  Dimension,
  Measures,
  ReportQuery,
  ResultOf,
} from '../../src/reports/queries.ts';
import { days, firstTime, priceEventID, purchaseEventID, viewEventID } from '../synthetic-feed.ts';
import { measures, writeOwnedEvents, writeSessionTables } from './plain-sql.ts';

export type Cell = string | number | null;

export interface MeasuredReport {
  readonly name: string;
  readonly query: ReportQuery;
  readonly sql: string;
  /** Converts the result to the rows that the SQL returns, in any order. */
  rowsOf(result: unknown): readonly (readonly Cell[])[];
  /**
   * The target in milliseconds with 10 million events; null if there is none. With one million events, the target is
   * always 120.
   */
  readonly atTenMillion: number | null;
}

export const createReport = <One extends ReportQuery>(
  name: string,
  atTenMillion: number | null,
  query: One,
  sql: string,
  rowsOf: (result: ResultOf<One>) => readonly (readonly Cell[])[],
): MeasuredReport => ({ name, query, sql, atTenMillion, rowsOf: (result) => rowsOf(result as ResultOf<One>) });

export const account = 1;
const day = 86_400_000;
export const week = 7 * day;
export const from = firstTime;
export const to = firstTime + days * day;
const liveMilliseconds = 5 * 60_000;
const everyDay = Array.from({ length: days + 1 }, (_, nth) => firstTime + nth * day);
const everyWeek = [...everyDay.filter((_, nth) => nth % 7 === 0), to];
export const queryBase = { account, from, to, robots: false, condition: null };
export const stepEventIDs = [viewEventID, priceEventID, purchaseEventID];
export const steps = stepEventIDs.map((eventID) => ({ eventIDs: [eventID] }));
const breakdownRows = 10;
const peoplePerPage = 100;

export const writeMonthEvents = (...columns: string[]): string => writeOwnedEvents(from, to, columns);
const toCells = ({ events, users, people, sessions }: Measures): Cell[] => [events, users, people, sessions];

export const totals = (name: string, condition: Condition | null, owned: string, where = '') =>
  createReport(
    name,
    200,
    { ...queryBase, condition, report: 'totals', value: null, edges: everyDay },
    `WITH ${writeSessionTables(owned)}
      SELECT part_of(event_time, ${day}) AS day, ${measures} FROM hits ${where} GROUP BY GROUPING SETS ((), (day))`,
    ({ total, intervals }) => [
      [null, ...toCells(total)],
      ...intervals.flatMap((one, nth) => (one.events === 0 ? [] : [[nth, ...toCells(one)]])),
    ],
  );

/**
 * `values` has an expression that is never NULL for each dimension. `sources` are the tables of a WITH clause; the
 * table `rows` has the events with their sessions, and `grouped` determines the groups.
 */
export const breakdownBy = (
  title: string,
  dimensions: readonly Dimension[],
  values: readonly string[],
  { sources, rows, grouped }: { readonly sources: string; readonly rows: string; readonly grouped: string },
) => {
  const names = values.map((_, nth) => `value${nth}`).join(', ');
  const query: BreakdownQuery = {
    ...queryBase,
    report: 'breakdown',
    value: null,
    dimensions,
    offsets: [[firstTime, 0]],
    sort: 'people',
    limit: breakdownRows,
  };
  // Finds the groups with the most people, then counts everything in one pass, with all other groups as number 0.
  return createReport(
    `breakdown by ${title}`,
    500,
    query,
    `WITH ${sources},
      groups AS (
        SELECT ${values.map((value, nth) => `${value} AS value${nth}`).join(', ')}, count(DISTINCT person) AS people
        FROM ${grouped} GROUP BY ${names}
      ),
      first AS (SELECT *, row_number() OVER (ORDER BY people DESC, ${names}) AS place FROM groups ORDER BY place LIMIT ${breakdownRows}),
      placed AS (
        SELECT r.*, coalesce(place, 0) AS nth, ${names}
        FROM ${rows} r LEFT JOIN first ON ${values.map((value, nth) => `value${nth} = ${value}`).join(' AND ')}
      )
      SELECT nth, ${names}, (SELECT count(*) FROM groups) AS number_of_groups, ${measures}
      FROM placed GROUP BY GROUPING SETS ((), (nth, ${names}))`,
    ({ total, rows: first, others }) => {
      const none = values.map(() => null);
      const groups = first.length + (others?.groups ?? 0);
      return [
        [null, ...none, groups, ...toCells(total)],
        ...first.map((row, nth) => [nth + 1, ...row.values.map((value) => value ?? ''), groups, ...toCells(row)]),
        ...(others ? [[0, ...none, groups, ...toCells(others)]] : []),
      ];
    },
  );
};

export const breakdown = (attrIDs: readonly string[], columns: readonly string[], values = columns) =>
  breakdownBy(
    attrIDs.join(' and '),
    attrIDs.map((attrID) => ({ attrID })),
    values,
    {
      sources: writeSessionTables(writeMonthEvents(...columns)),
      rows: 'hits',
      grouped: 'owned',
    },
  );

export const people = (
  name: string,
  query: { of: Extract<ReportQuery, { report: 'people' }>['of'] },
  tables: string,
  where = '',
) =>
  createReport(
    name,
    500,
    {
      ...queryBase,
      ...query,
      report: 'people',
      usersAtLeast: 0,
      limit: peoplePerPage,
      beyond: null,
      until: null,
    },
    `WITH ${tables}
      SELECT person, count(*) AS events, count(DISTINCT user_id) AS users, min(event_time) AS first_time, max(event_time) AS last_time FROM owned ${where}
      GROUP BY person ORDER BY last_time DESC, person DESC LIMIT ${peoplePerPage}`,
    (result) =>
      result.people.map(({ person, events, users, firstTime: first, lastTime }) => [
        person,
        events,
        users,
        first,
        lastTime,
      ]),
  );

export const breakdownOverTime = (attrID: string, column: string) =>
  createReport(
    `${attrID} by day`,
    500,
    {
      ...queryBase,
      ...{ report: 'breakdown', value: null, dimensions: [{ attrID }], offsets: [[firstTime, 0]] },
      ...{ sort: 'people', limit: breakdownRows, edges: everyDay },
    },
    `WITH ${writeSessionTables(writeMonthEvents(column))}
      SELECT ${column}, part_of(event_time, ${day}) AS day, ${measures} FROM hits GROUP BY ${column}, day`,
    ({ rows }) =>
      rows.flatMap(({ values, intervals = [] }) =>
        intervals.flatMap((one, nth) => (one.events === 0 ? [] : [[values[0] ?? null, nth, ...toCells(one)]])),
      ),
  );

export const visits = () =>
  createReport(
    'visits',
    500,
    { ...queryBase, report: 'totals', value: null, edges: [from, to], visits: true },
    `WITH ${writeSessionTables(writeMonthEvents('path'))},
      visits AS (
        SELECT count(*) AS events, count(path) AS pages, max(event_time) - min(event_time) AS milliseconds FROM hits GROUP BY user_id, session
      )
      SELECT count(*) FILTER (WHERE events = 1 AND pages = 1), sum(pages), sum(milliseconds) FROM visits`,
    ({ total }) => (total.visits ? [[total.visits.bounces, total.visits.pages, total.visits.milliseconds]] : []),
  );

export const bestCustomers = () =>
  createReport(
    'people by amount paid',
    500,
    {
      ...{ ...queryBase, report: 'people', of: { kind: 'all' }, value: 'price', sort: 'sum' },
      ...{ usersAtLeast: 0, limit: peoplePerPage, beyond: null, until: null },
    },
    `WITH owned AS (${writeMonthEvents('price')})
      SELECT person, count(price) AS purchases FROM owned WHERE price IS NOT NULL GROUP BY person
      ORDER BY round(sum(price::numeric(12, 6)), 6) DESC, person DESC LIMIT ${peoplePerPage}`,
    (result) => result.people.map(({ person, value }) => [person, value?.count ?? 0]),
  );

export const live = () => {
  const limit = 10;
  const columns = { page: 'path', host: 'host', country: 'country' } as const;
  const lists = Object.entries(columns).map(
    ([list, column]) => `${list}_of AS (
      SELECT DISTINCT ON (person) person, '${list}' AS list, ${column} AS value FROM present
      ORDER BY person, ${column} IS NULL, event_time DESC, sequence DESC
    )`,
  );
  const unions = Object.keys(columns).map((list) => `SELECT list, value FROM ${list}_of`);
  return createReport(
    'live: the last five minutes',
    null,
    {
      ...queryBase,
      from: to - liveMilliseconds,
      report: 'live',
      own: { hosts: ['shop.example'], suffixes: ['.shop.example'] },
      limit,
    },
    `WITH owned AS (${writeOwnedEvents(to - liveMilliseconds, to, ['path', 'referrer', 'country'])}),
      hosts AS (SELECT *, host_of(referrer) AS any_host FROM owned),
      present AS (
        SELECT *, CASE WHEN any_host = 'shop.example' OR any_host LIKE '%.shop.example' THEN NULL ELSE any_host END AS host FROM hosts
      ),
      ${lists.join(', ')},
      counted AS (SELECT list, value, count(*) AS people FROM (${unions.join(' UNION ALL ')}) l GROUP BY list, value),
      ranked AS (SELECT *, row_number() OVER (PARTITION BY list ORDER BY people DESC, value NULLS LAST) AS place FROM counted)
      SELECT list, place, value, people FROM ranked WHERE place <= ${limit}
      UNION ALL SELECT list, 0, NULL, sum(people) FROM ranked WHERE place > ${limit} GROUP BY list
      UNION ALL SELECT 'all', count(DISTINCT user_id), count(DISTINCT person)::text, count(*) FROM present`,
    ({ events, users, people: persons, page, referrerHost, country }) => [
      ['all', users, persons, events],
      ...Object.entries({ page, host: referrerHost, country }).flatMap(([list, { rows, others }]) => [
        ...rows.map(({ value, people: number }, nth) => [list, nth + 1, value, number]),
        ...(others === 0 ? [] : [[list, 0, null, others]]),
      ]),
    ],
  );
};

export const retention = (name: string, conditions: { first: Condition | null; back: Condition | null }, sql: string) =>
  createReport(name, 700, { ...queryBase, ...conditions, report: 'retention', edges: everyWeek }, sql, ({ cohorts }) =>
    cohorts.flatMap(({ people: cohortSize, back }, cohort) =>
      back
        .map((number, later) => [cohort, cohort + later, later === 0 ? cohortSize : 0, number])
        .filter(([, , first, number]) => first !== 0 || number !== 0),
    ),
  );
