/** Runs breakdown reports, which measure groups of events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownQuery, BreakdownResult, Measures } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, name, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { prepareConversions } from './conversions.ts';
import { countGroups, type WriteHits } from './counting.ts';
import { countFirstGroups } from './first-groups.ts';
import { type PreparedGroups, prepareGroups, sameGroup, toKeys, toOrder, toValues } from './groups.ts';
import { prepareIntervals } from './intervals.ts';
import { toMeasures, valueAggregates } from './measures.ts';
import { describeVisits } from './visit-figures.ts';

/** The first groups. `table` is a query that returns their key columns and their `rank`, from 1. */
interface RankedGroups {
  readonly keys: readonly string[];
  readonly rows: readonly Row[];
  readonly table: SQL;
}

/** The measures of the first groups in each interval. */
const countIntervals = async (
  connection: DuckDBConnection,
  source: Source,
  query: BreakdownQuery,
  { write, sessions, edges, keys, rows, table }: PreparedGroups & RankedGroups & { readonly edges: readonly number[] },
): Promise<Measures[][]> => {
  const intervals = await prepareIntervals(connection, source, query, edges);
  const selectRanked = (events: SQL): SQL =>
    intervals.within(
      sql`SELECT h.* EXCLUDE (${list(keys.map(name))}), t.rank FROM ${events} h JOIN ${table} t ON ${sameGroup(keys)}`,
    );
  const hits: WriteHits = (options) => selectRanked(write(options, (scope) => ({ slot: intervals.slotOf(scope) })));
  const events = rows.reduce((sum, row) => sum + Number(row.events), 0);
  await countGroups(connection, source, query, {
    keys: ['rank', 'interval'],
    size: { groups: rows.length * intervals.count, events },
    sessions,
    hits,
  });
  const byPlace = (counts: readonly Row[]) =>
    new Map(counts.map((row) => [(Number(row.rank) - 1) * intervals.count + Number(row.interval), row]));
  const counts = byPlace(await run(connection, sql`SELECT * FROM groups`));
  const { value } = query;
  const selectNumbers = (attrID: string) =>
    selectRanked(
      write({ sequence: true }, (scope) => ({ slot: intervals.slotOf(scope), number: scope.number(attrID) })),
    );
  const figures =
    value === null
      ? null
      : byPlace(
          await run(
            connection,
            sql`SELECT rank, "interval", ${valueAggregates} FROM ${selectNumbers(value)} WHERE number IS NOT NULL GROUP BY rank, "interval"`,
          ),
        );
  return rows.map((_, index) =>
    Array.from({ length: intervals.count }, (_, interval) => {
      const place = index * intervals.count + interval;
      return toMeasures(counts.get(place), figures === null ? null : figures.get(place), null);
    }),
  );
};

/**
 * Counts, for each of the first groups, the people with an event that meets `among`. Also returns up to `more` groups
 * that have only such events.
 */
const countAmong = async (
  connection: DuckDBConnection,
  { write, keys, rows, table }: PreparedGroups & RankedGroups,
  more: number,
) => {
  const columns = list(keys.map(name));
  const events = write({ person: true, among: true });
  await run(
    connection,
    sql`CREATE TEMP TABLE among AS SELECT ${columns}, count(DISTINCT person) AS among FROM ${events} GROUP BY ${columns}`,
  );
  const [total] = await run(connection, sql`SELECT count(DISTINCT person) AS among FROM ${events}`);
  const counts = await run(connection, sql`SELECT rank, among FROM among h JOIN ${table} t ON ${sameGroup(keys)}`);
  const byRank = new Map(counts.map((row) => [Number(row.rank), Number(row.among)]));
  const empty = await run(
    connection,
    sql`SELECT * FROM among h ANTI JOIN sizes t ON ${sameGroup(keys)} ORDER BY among DESC, ${toOrder(keys)} LIMIT ${more}`,
  );
  return {
    total: Number(total?.among),
    rows: rows.map((_, index) => byRank.get(index + 1) ?? 0),
    empty: empty.map((row) => ({ values: toValues(row, keys), among: Number(row.among) })),
  };
};

export const computeBreakdown = async (
  connection: DuckDBConnection,
  source: Source,
  query: BreakdownQuery,
): Promise<BreakdownResult> => {
  const { dimensions, value, sort, edges, limit } = query;
  const groups = await prepareGroups(connection, source, query);
  const { sessions, write, isRepeated, bySession } = groups;
  const keys = toKeys(dimensions);
  const order = clause`${name(sort)} DESC, ${toOrder(keys)}`;
  const { total, rows, otherGroups, others } = await countFirstGroups(connection, source, query, {
    keys,
    sessions,
    bySession,
    hits: (options) => write(options),
    ...(isRepeated && { once: (options) => write({ ...options, once: true }) }),
  });
  const ranked = sql`SELECT *, row_number() OVER (ORDER BY ${order}) AS rank FROM first`;
  const sumUp = (attrID: string) => {
    const numbers = write({ sequence: true }, (scope) => ({ number: scope.number(attrID) }));
    const ranks = sql`SELECT sequence, number, rank FROM ${numbers} h LEFT JOIN ${ranked} t ON ${sameGroup(keys)}
      WHERE number IS NOT NULL`;
    return run(
      connection,
      isRepeated
        ? sql`WITH found AS MATERIALIZED ${ranks},
            once AS (SELECT any_value(number) AS number, max(rank) AS rank FROM found GROUP BY sequence)
          SELECT rank, 0 AS total, ${valueAggregates} FROM found WHERE rank IS NOT NULL GROUP BY rank
          UNION ALL SELECT NULL, 1, ${valueAggregates} FROM once
          UNION ALL SELECT NULL, 0, ${valueAggregates} FROM once WHERE rank IS NULL`
        : sql`SELECT rank, GROUPING(rank)::INTEGER AS total, ${valueAggregates} FROM ${ranks} GROUP BY GROUPING SETS ((), (rank))`,
    );
  };
  const figures = value === null ? null : await sumUp(value);
  const figuresOf = (rank: number | null, ofTotal = 0) =>
    figures === null
      ? null
      : figures.find((row) => row.total === ofTotal && (row.rank === null ? null : Number(row.rank)) === rank);
  const hitsWith = (options: { readonly person?: boolean }): SQL =>
    sql`SELECT h.* EXCLUDE (${list(keys.map(name))}), rank FROM ${write({ ...options, session: true })} h
      LEFT JOIN ${ranked} t ON ${sameGroup(keys)}`;
  const visits = query.visits
    ? await describeVisits(connection, source, query, { sessions, keys: ['rank'], hits: hitsWith({}) })
    : null;
  const visitsOf = (rank: number) => (visits === null ? null : visits.groups.find((row) => Number(row.rank) === rank));
  const first: RankedGroups = { keys, rows, table: ranked };
  const intervals = edges && (await countIntervals(connection, source, query, { ...groups, ...first, edges }));
  const among = query.among && (await countAmong(connection, { ...groups, ...first }, limit - rows.length));
  const countConversions =
    query.goal &&
    (await prepareConversions(connection, source, query, {
      ...{ goal: query.goal, sessions, keys: ['rank'] },
      hits: hitsWith({ person: true }),
    }));
  const conversions = countConversions && { total: await countConversions([]), of: await countConversions(['rank']) };
  const nothing = toMeasures(undefined, value === null ? null : undefined, query.visits ? undefined : null);
  return {
    total: {
      ...toMeasures(total, figuresOf(null, 1), visits === null ? null : visits.total),
      ...(conversions && { conversions: conversions.total({}) }),
      ...(among && { among: among.total }),
    },
    rows: [
      ...rows.map((row, index) => ({
        values: toValues(row, keys),
        ...toMeasures(row, figuresOf(index + 1), visitsOf(index + 1)),
        ...(intervals && { intervals: intervals[index] as Measures[] }),
        ...(conversions && { conversions: conversions.of({ rank: index + 1 }) }),
        ...(among && { among: among.rows[index] as number }),
      })),
      ...(among?.empty ?? []).map(({ values, among: people }) => {
        const { visits: _, ...inInterval } = nothing;
        const empty = edges && { intervals: edges.slice(1).map(() => inInterval) };
        // Rank 0 is no group.
        const none = conversions && { conversions: conversions.of({ rank: 0 }) };
        return { values, ...nothing, ...none, ...empty, among: people };
      }),
    ],
    others: otherGroups === 0 ? null : { groups: otherGroups, ...toMeasures(others, figuresOf(null), null) },
  };
};
