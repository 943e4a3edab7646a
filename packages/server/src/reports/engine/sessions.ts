/** Sessions: the events of a visitor without a pause. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sessionPauseMilliseconds } from '../questions.ts';
import { runWith } from './values.ts';

/** The columns that `writeSessions` needs of a table of cells, each holding events of one visitor in one span: the first and last time. */
export const firstAndLast = 'min("eventTime") AS lo, max("eventTime") AS hi';

/**
 * Makes the temporary table `sessions` from the table `cells` of all events in the report's range: for each visitor and span its session, as
 * the number of the row of cells that it begins with.
 */
export const writeSessions = async (connection: DuckDBConnection): Promise<void> => {
  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE sessions AS
      WITH spans AS (SELECT visitor, span, min(lo) AS lo, max(hi) AS hi, min(rowid) AS cell FROM cells GROUP BY visitor, span),
      marked AS (
        SELECT visitor, span, CASE WHEN lo - lag(hi) OVER w < ${values.integer(sessionPauseMilliseconds)} THEN NULL ELSE cell END AS cell
        FROM spans WINDOW w AS (PARTITION BY visitor ORDER BY span)
      )
      SELECT visitor, span, last_value(cell IGNORE NULLS) OVER (PARTITION BY visitor ORDER BY span) AS session FROM marked`,
  );
};
