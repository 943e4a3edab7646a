/** Runs totals reports: the measures of all events, and of the events in each interval. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sessionPauseMilliseconds, type TotalsQuery, type TotalsResult } from '../../queries.ts';
import type { Source } from '../source.ts';
import { sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { prepareConversions } from './conversions.ts';
import { countGroups, type WriteHits } from './counting.ts';
import { prepareIntervals } from './intervals.ts';
import { toMeasures, valueAggregates } from './measures.ts';
import { createScope } from './scope.ts';
import { prepareSessions } from './sessions.ts';
import { describeVisits } from './visit-figures.ts';

/**
 * The minimum span for which `adds` is worthwhile. In shorter spans, many of the events are in the first half hour, so
 * `adds` would save little.
 */
const minAddsMilliseconds = 4 * sessionPauseMilliseconds;

export const computeTotals = async (
  connection: DuckDBConnection,
  source: Source,
  query: TotalsQuery,
): Promise<TotalsResult> => {
  const { edges, value } = query;
  const intervals = await prepareIntervals(connection, source, query, edges);
  const { grid } = intervals;
  const sessions = await prepareSessions(connection, source, query);
  const hits: WriteHits = (options) => {
    const scope = createScope(source, query);
    scope.add('slot', intervals.slotOf(scope));
    if (options.adds) scope.add('adds', scope.adds(grid, sessions));
    return intervals.within(scope.hits(options, options.session || options.adds ? sessions : null));
  };
  const counts = await countGroups(connection, source, query, {
    keys: ['interval'],
    size: { groups: intervals.count, events: Number.POSITIVE_INFINITY },
    sessions,
    withAdds: query.condition === null && grid.milliseconds >= minAddsMilliseconds,
    hits,
  });
  const rows = await run(connection, sql`SELECT * FROM groups`);
  const byInterval = (list: readonly Row[]) => new Map(list.map((row) => [Number(row.interval), row]));
  const countsIn = byInterval(rows);
  /** Computes an attribute's statistics, by interval and in total. */
  const sumUp = async (attrID: string): Promise<Map<number | 'total', Row>> => {
    const scope = createScope(source, query);
    scope.add('number', scope.number(attrID));
    scope.add('slot', intervals.slotOf(scope));
    const numbers = intervals.within(scope.rows({ withPerson: false, where: scope.matched }));
    const sums = await run(
      connection,
      sql`SELECT "interval", GROUPING("interval")::INTEGER AS total, ${valueAggregates}
        FROM ${numbers} WHERE number IS NOT NULL GROUP BY GROUPING SETS ((), ("interval"))`,
    );
    return new Map(sums.map((row) => [row.total === 1 ? 'total' : Number(row.interval), row]));
  };
  const figures = value === null ? null : await sumUp(value);
  const figuresOf = (key: number | 'total') => (figures === null ? null : figures.get(key));
  const visits = query.visits
    ? await describeVisits(connection, source, query, {
        sessions,
        keys: ['interval'],
        hits: hits({ session: true }),
      })
    : null;
  const countConversions =
    query.goal &&
    (await prepareConversions(connection, source, query, {
      ...{ goal: query.goal, sessions, intervals, keys: ['interval'] },
      hits: hits({ person: true, session: true }),
    }));
  const conversions = countConversions && {
    total: await countConversions([]),
    in: await countConversions(['interval']),
  };
  const visitsIn = visits === null ? null : byInterval(visits.groups);
  return {
    total: {
      ...toMeasures(await counts.total(), figuresOf('total'), visits === null ? null : visits.total),
      ...(conversions && { conversions: conversions.total({}) }),
    },
    intervals: Array.from({ length: intervals.count }, (_, interval) => ({
      ...toMeasures(countsIn.get(interval), figuresOf(interval), visitsIn === null ? null : visitsIn.get(interval)),
      ...(conversions && { conversions: conversions.in({ interval }) }),
    })),
  };
};
