/** Totals: the measures of all events, and of those in each interval. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sessionPauseMilliseconds, type TotalsAnswer, type TotalsQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { countGroups } from './counting.ts';
import { createGrid, isGridOf, spansBefore, valuesOfSpans } from './grid.ts';
import { summedUp, toMeasures } from './measures.ts';
import { createScope, type Scope } from './scope.ts';
import { prepareSessions } from './sessions.ts';

/** In shorter spans most events are of the first half hour. */
const worthAdds = 4 * sessionPauseMilliseconds;

export const answerTotals = async (
  connection: DuckDBConnection,
  source: Source,
  question: TotalsQuestion,
): Promise<TotalsAnswer> => {
  const { from, to, edges, value } = question;
  const starts = edges.slice(0, -1).map((edge, interval) => [edge, interval] as const);
  const grid = createGrid(from, edges.slice(1, -1));
  const areIntervals = isGridOf(grid, edges);
  if (!areIntervals) {
    const spans = spansBefore(grid, to, () => {
      const scope = createScope(source, question);
      scope.add('span', scope.spanOf(grid));
      return scope.rows({ withPerson: false });
    });
    await run(connection, sql`CREATE TEMP TABLE intervals AS ${valuesOfSpans(grid, starts, spans)}`);
  }
  /** Adds to `scope` what `inIntervals` needs of each event: `value` is the number of its interval. */
  const addSpan = (scope: Scope): void => scope.add(areIntervals ? 'value' : 'span', scope.spanOf(grid));
  const inIntervals = (found: SQL): SQL =>
    areIntervals ? found : sql`SELECT * FROM ${found} JOIN intervals USING (span)`;
  const sessions = await prepareSessions(connection, source, question);

  const counted = await countGroups(connection, source, question, {
    keys: ['value'],
    size: { groups: starts.length, events: Number.POSITIVE_INFINITY },
    sessions,
    withAdds: question.condition === null && grid.milliseconds >= worthAdds,
    hits(wanted) {
      const scope = createScope(source, question);
      addSpan(scope);
      if (wanted.adds) scope.add('adds', scope.adds(grid, sessions));
      return inIntervals(scope.hits(wanted, wanted.session || wanted.adds ? sessions : null));
    },
  });
  const rows = await run(connection, sql`SELECT * FROM groups`);
  const byInterval = new Map(rows.map((row) => [Number(row.value), row]));
  /** The figures of numbers, by the intervals, and of the total. */
  const sumUp = async (attrID: string): Promise<Map<number | 'total', Row>> => {
    const scope = createScope(source, question);
    scope.add('number', scope.number(attrID));
    addSpan(scope);
    const found = inIntervals(scope.rows({ withPerson: false, where: scope.matched }));
    const sums = await run(
      connection,
      sql`SELECT value, GROUPING(value)::INTEGER AS total, ${summedUp}
        FROM ${found} WHERE number IS NOT NULL GROUP BY GROUPING SETS ((), (value))`,
    );
    return new Map(sums.map((row) => [row.total === 1 ? 'total' : Number(row.value), row]));
  };
  const valued = value === null ? null : await sumUp(value);
  const valuedOf = (key: number | 'total') => (valued === null ? null : valued.get(key));
  return {
    total: toMeasures(await counted.total(), valuedOf('total')),
    intervals: starts.map(([, interval]) => toMeasures(byInterval.get(interval), valuedOf(interval))),
  };
};
