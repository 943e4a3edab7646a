/** Restricts a report to some people's events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../source.ts';
import { or, sql } from '../sql.ts';
import { appendIntegers, run } from '../statements.ts';

/** Creates the temporary table `listed` (`person`). Returns a source without most of other people's events. */
export const writeListedPeople = async (
  connection: DuckDBConnection,
  source: Source,
  people: readonly number[],
): Promise<Source> => {
  await run(connection, sql`CREATE TEMP TABLE listed (person BIGINT)`);
  appendIntegers(await connection.createAppender('listed', 'main', 'temp'), [people]);
  const { person, bounds } = source;
  const isListed = sql`"user" IN (SELECT "user" FROM ${person.owners} WHERE person IN (SELECT person FROM listed)
    UNION ALL SELECT -person FROM listed WHERE person < 0)`;
  const where = bounds.contact > 0 ? or([sql`contact > 0`, isListed]) : isListed;
  return {
    ...source,
    select: (names) => sql`SELECT * FROM ${source.select([...new Set([...names, 'user', 'contact'])])} WHERE ${where}`,
  };
};
