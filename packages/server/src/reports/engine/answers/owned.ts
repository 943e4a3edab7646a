/** The users of whose events some may belong to a contact. All events of other users are people of their own. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { isWhole } from '../owners.ts';
import { clause, nothing, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createScope } from './scope.ts';

/**
 * Makes the temporary tables `whole`, of the users whose events are all of one person (`user`, `person`), at most `maxWhole`, and `owned`, of
 * the other such users of the question's events and 0. Returns whether an event can be of a user in `owned`, and how many are in `whole`.
 */
export const writeOwned = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
  maxWhole: number,
): Promise<{ readonly isOwned: boolean; readonly whole: number }> => {
  const { owners } = source.person;
  const { user: greatest, contact } = source.bounds;
  // Somebody may own a user of whom no event was stored yet.
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE whole AS SELECT "user", any_value(person) AS person FROM ${owners}
      WHERE "user" <= ${greatest} GROUP BY "user" HAVING ${isWhole(source.through)}`,
  );
  // The person of an event that was logged with a contact is another one than the user's.
  if (contact > 0) {
    const scope = createScope(source, question);
    scope.add('user', sql`e."user"`);
    const rows = scope.rows({ withPerson: false, where: sql`contact > 0` });
    await run(connection, sql`CREATE OR REPLACE TEMP TABLE logged AS SELECT DISTINCT "user" FROM ${rows}`);
    await run(connection, sql`DELETE FROM whole WHERE "user" IN (SELECT "user" FROM logged)`);
  }
  const [counted] = await run(connection, sql`SELECT count(*) AS whole FROM whole`);
  const whole = Number(counted?.whole);
  if (whole > maxWhole) await run(connection, sql`DELETE FROM whole`);
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE owned AS SELECT 0 AS "user"
      UNION SELECT "user" FROM ${owners} WHERE "user" <= ${greatest} AND "user" NOT IN (SELECT "user" FROM whole)
      ${contact > 0 ? clause`UNION SELECT "user" FROM logged` : nothing}`,
  );
  const [owned] = await run(connection, sql`SELECT count(*) AS owned FROM owned WHERE "user" > 0`);
  return { isOwned: contact > 0 || Number(owned?.owned) > 0, whole: whole > maxWhole ? 0 : whole };
};
