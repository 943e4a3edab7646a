/**
 * Finds the sessions of a report's events. Most events have session numbers (visits.ts). This module computes the
 * sessions of irregular visitors, and of all visitors if the report counts bots.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { type ReportQuery, sessionPauseMilliseconds } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, nothing, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createGrid } from './grid.ts';
import { createScope, type Sessions } from './scope.ts';

/**
 * Creates the temporary table `sessions` if needed. It maps each visitor and span to a session, identified by a
 * negative number.
 */
export const prepareSessions = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
): Promise<Sessions> => {
  const { irregular, bounds } = source;
  const all = query.robots || irregular.visitors === 'all';
  if (!all && irregular.visitors === 0) return { grid: null, lowest: 0, highest: bounds.session };
  const grid = createGrid(query.from, [], sessionPauseMilliseconds);
  const scope = createScope(source, query);
  scope.add('span', scope.spanOf(grid));
  scope.add('eventTime', sql`"eventTime"`);
  await run(
    connection,
    sql`CREATE TEMP TABLE spans AS SELECT row_number() OVER () AS number, * FROM (
      SELECT visitor, span, min("eventTime") AS lo, max("eventTime") AS hi FROM ${scope.rows({ withPerson: false })}
      ${all ? nothing : clause`WHERE visitor IN (SELECT visitor FROM ${irregular.table})`} GROUP BY visitor, span)`,
  );
  await run(
    connection,
    sql`CREATE TEMP TABLE sessions AS
      WITH marked AS (
        SELECT visitor, span, CASE WHEN lo - lag(hi) OVER w < ${sessionPauseMilliseconds} THEN NULL ELSE -number END AS first
        FROM spans WINDOW w AS (PARTITION BY visitor ORDER BY span)
      )
      SELECT visitor, span, last_value(first IGNORE NULLS) OVER (PARTITION BY visitor ORDER BY span) AS session FROM marked`,
  );
  const [row] = await run(connection, sql`SELECT count(*) AS spans FROM spans`);
  return { grid, lowest: -Number(row?.spans), highest: bounds.session };
};
