/** The intervals between the edges of a question, as SQL. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { name, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createGrid, type Grid, isGridOf, spansBefore, valuesOfSpans } from './grid.ts';
import { createScope, type Scope } from './scope.ts';

interface Intervals {
  readonly grid: Grid;
  readonly count: number;
  /** The column `slot` that `within` needs of each event. */
  slotOf(scope: Scope): SQL;
  /** Rows with `interval`, its number from 0, instead of `slot`. */
  within(rows: SQL): SQL;
}

/** Makes the temporary table `intervals` where it is needed. */
export const prepareIntervals = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
  edges: readonly number[],
): Promise<Intervals> => {
  const starts = edges.slice(0, -1).map((edge, interval) => [edge, interval] as const);
  const grid = createGrid(question.from, edges.slice(1, -1));
  const areSlots = isGridOf(grid, edges);
  if (!areSlots) {
    const spans = spansBefore(grid, question.to, () => {
      const scope = createScope(source, question);
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
      areSlots
        ? sql`SELECT * EXCLUDE (slot), slot AS ${name('interval')} FROM ${rows}`
        : sql`SELECT * EXCLUDE (slot) FROM ${rows} JOIN intervals USING (slot)`,
  };
};
