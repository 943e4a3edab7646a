/** Describes whole visits: all of a session's events in the range, including those that the report does not count. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { pathAttrID } from '../../attributes.ts';
import type { ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, name, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { createScope, type Sessions } from './scope.ts';

const visitFigures = clause`count_if(events = 1 AND pages = 1) AS bounces, sum(pages) AS pages, sum(milliseconds) AS milliseconds`;

/**
 * Returns the visit figures, in total and per group, for the sessions that contain an event in `hits`, a query with the
 * columns `keys` and `session`. Creates temporary tables.
 */
export const describeVisits = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  { sessions, keys, hits }: { readonly sessions: Sessions; readonly keys: readonly string[]; readonly hits: SQL },
): Promise<{ readonly total: Row | undefined; readonly groups: readonly Row[] }> => {
  const scope = createScope(source, query);
  scope.add('path', scope.text(pathAttrID));
  scope.add('time', sql`"eventTime"`);
  await run(
    connection,
    sql`CREATE TEMP TABLE described AS
      SELECT session, count(*) AS events, count(path) AS pages, max(time) - min(time) AS milliseconds
      FROM ${scope.rows({ withPerson: false, sessions })} GROUP BY session`,
  );
  const columns = list(keys.map(name));
  await run(connection, sql`CREATE TEMP TABLE pairs AS SELECT DISTINCT ${columns}, session FROM ${hits}`);
  const [total] = await run(connection, sql`SELECT ${visitFigures} FROM described SEMI JOIN pairs USING (session)`);
  const groups = await run(
    connection,
    sql`SELECT ${columns}, ${visitFigures} FROM pairs JOIN described USING (session) GROUP BY ${columns}`,
  );
  return { total, groups };
};
