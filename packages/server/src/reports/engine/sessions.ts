/** Sessions: the events of a visitor without a pause. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sessionPauseMilliseconds } from '../questions.ts';
import { runWith } from './values.ts';

/** The columns that `writeSessions` needs of a table of cells, each holding events of one visitor in one span: the first and last time. */
export const firstAndLast = 'min("eventTime") AS lo, max("eventTime") AS hi';

/**
 * Makes the temporary table `sessions` from the table `cells` of all events in the report's range: for each visitor and span its session, as
 * a number. It is made of the visitor and the time of the session's beginning.
 */
export const writeSessions = async (connection: DuckDBConnection): Promise<void> => {
  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE sessions AS
      WITH spans AS (SELECT visitor, span, min(lo) AS lo, max(hi) AS hi FROM cells GROUP BY visitor, span),
      marked AS (
        SELECT visitor, span, lo, lo - lag(hi) OVER (PARTITION BY visitor ORDER BY span) < ${values.integer(sessionPauseMilliseconds)}
          AS continues FROM spans
      )
      SELECT visitor, span, visitor::HUGEINT * 36893488147419103232::HUGEINT
        + max(CASE WHEN continues THEN NULL ELSE lo END) OVER (PARTITION BY visitor ORDER BY span) AS session
      FROM marked`,
  );
};
