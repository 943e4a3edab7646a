/** Assigns events to the intervals between a report's edges, as SQL. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { name, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createGrid, type Grid, isGridOf, spansBefore, valuesOfSpans } from './grid.ts';
import { createScope, type Scope } from './scope.ts';

export interface Intervals {
  readonly grid: Grid;
  readonly count: number;
  /** Returns the value of the column `slot`, which `within` needs. */
  slotOf(scope: Scope): SQL;
  /** Replaces `slot` in rows with `interval`, a number from 0. */
  within(rows: SQL): SQL;
}

/** Creates the temporary table `intervals` if it is needed. */
export const prepareIntervals = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  edges: readonly number[],
): Promise<Intervals> => {
  const starts = edges.slice(0, -1).map((edge, interval) => [edge, interval] as const);
  const grid = createGrid(query.from, edges.slice(1, -1));
  const hasEqualIntervals = isGridOf(grid, edges);
  if (!hasEqualIntervals) {
    const spans = spansBefore(grid, query.to, () => {
      const scope = createScope(source, query);
      scope.add('span', scope.spanOf(grid));
      return scope.rows({ withPerson: false });
    });
    const values = valuesOfSpans(grid, starts, spans);
    await run(connection, sql`CREATE TEMP TABLE intervals AS SELECT span AS slot, value AS "interval" FROM ${values}`);
  }
  return {
    grid,
    count: starts.length,
    slotOf: (scope) => scope.spanOf(grid),
    within: (rows) =>
      hasEqualIntervals
        ? sql`SELECT * EXCLUDE (slot), slot AS ${name('interval')} FROM ${rows}`
        : sql`SELECT * EXCLUDE (slot) FROM ${rows} JOIN intervals USING (slot)`,
  };
};
