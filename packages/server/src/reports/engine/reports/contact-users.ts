/** Finds the users who can have events that belong to a contact. Every other user counts as a separate person. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ReportQuery } from '../../queries.ts';
import { hasSingleOwner } from '../owners.ts';
import type { Source } from '../source.ts';
import { clause, nothing, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createScope } from './scope.ts';

/**
 * Creates two temporary tables: `whole` (`user`, `person`) has the users whose events all belong to one contact, and
 * `owned` has the other users with a contact, and 0. If `whole` would have more than `maxWhole` users, it is left
 * empty.
 *
 * Returns whether an event can have a user in `owned`, and the number of users in `whole`.
 */
export const writeContactUsers = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  maxWhole: number,
): Promise<{ readonly isOwned: boolean; readonly whole: number }> => {
  const { owners } = source.person;
  const { user: highest, contact } = source.bounds;
  // Excludes users without stored events, which a contact can also own.
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE whole AS SELECT "user", any_value(person) AS person FROM ${owners}
      WHERE "user" <= ${highest} GROUP BY "user" HAVING ${hasSingleOwner(source.through)}`,
  );
  // Events that were logged with a contact belong to that contact, not to the user's person.
  if (contact > 0) {
    const scope = createScope(source, query);
    scope.add('user', sql`e."user"`);
    const rows = scope.rows({ withPerson: false, where: sql`contact > 0` });
    await run(connection, sql`CREATE OR REPLACE TEMP TABLE logged AS SELECT DISTINCT "user" FROM ${rows}`);
    await run(connection, sql`DELETE FROM whole WHERE "user" IN (SELECT "user" FROM logged)`);
  }
  const [wholeRow] = await run(connection, sql`SELECT count(*) AS whole FROM whole`);
  const whole = Number(wholeRow?.whole);
  if (whole > maxWhole) await run(connection, sql`DELETE FROM whole`);
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE owned AS SELECT 0 AS "user"
      UNION SELECT "user" FROM ${owners} WHERE "user" <= ${highest} AND "user" NOT IN (SELECT "user" FROM whole)
      ${contact > 0 ? clause`UNION SELECT "user" FROM logged` : nothing}`,
  );
  const [ownedRow] = await run(connection, sql`SELECT count(*) AS owned FROM owned WHERE "user" > 0`);
  return { isOwned: contact > 0 || Number(ownedRow?.owned) > 0, whole: whole > maxWhole ? 0 : whole };
};
