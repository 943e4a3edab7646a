/** Totals: the measures of all events, and of those in each interval. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { TotalsAnswer, TotalsQuestion } from '../questions.ts';
import type { Source } from './account.ts';
import { createGrid, spanOf, valuesOfSpans } from './grid.ts';
import { counted, summedUp, toMeasures } from './measures.ts';
import { createScope } from './scope.ts';
import { firstAndLast, writeSessions } from './sessions.ts';
import { type Row, runWith } from './values.ts';

export const answerTotals = async (
  connection: DuckDBConnection,
  source: Source,
  question: TotalsQuestion,
): Promise<TotalsAnswer> => {
  const { from, edges, value } = question;
  const starts = edges.slice(0, -1).map((edge, interval) => [edge, interval] as const);
  const grid = createGrid(from, edges.slice(1, -1));

  await runWith(connection, (values) => {
    const scope = createScope(source, question, values);
    scope.add('matched', scope.matched);
    scope.add('span', spanOf(grid, '"eventTime"', values));
    scope.add('"eventTime"', '"eventTime"');
    return `CREATE TEMP TABLE cells AS SELECT visitor, person, matched, span, count(*) AS events, ${firstAndLast}
      FROM (${scope.rows()}) GROUP BY visitor, person, matched, span`;
  });
  await writeSessions(connection);
  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE intervals AS ${valuesOfSpans(grid, starts, 'cells', values)}`,
  );
  /** The rows of the intervals, by their numbers, and of the total. */
  const byInterval = (rows: readonly Row[]) =>
    new Map(rows.map((row) => [row.total === 1 ? ('total' as const) : Number(row.value), row]));
  const measured = byInterval(
    await runWith(
      connection,
      () => `SELECT value, GROUPING(value)::INTEGER AS total, ${counted('sum(events)')}
        FROM cells JOIN sessions USING (visitor, span) JOIN intervals USING (span) WHERE matched
        GROUP BY GROUPING SETS ((), (value))`,
    ),
  );
  const valued =
    value === null
      ? null
      : byInterval(
          await runWith(connection, (values) => {
            const scope = createScope(source, question, values);
            scope.add('number', scope.number(value));
            scope.add('span', spanOf(grid, '"eventTime"', values));
            const rows = scope.rows({ withPerson: false, where: scope.matched });
            return `SELECT value, GROUPING(value)::INTEGER AS total, ${summedUp}
              FROM (${rows}) JOIN intervals USING (span) WHERE number IS NOT NULL GROUP BY GROUPING SETS ((), (value))`;
          }),
        );
  const measuresOf = (key: number | 'total') => toMeasures(measured.get(key), valued === null ? null : valued.get(key));
  return { total: measuresOf('total'), intervals: starts.map(([, interval]) => measuresOf(interval)) };
};
