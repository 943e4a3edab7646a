/** The users of whose events some may belong to a contact. All events of other users are people of their own. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { isWhole } from '../owners.ts';
import { runSQL, runWith } from '../values.ts';
import { createScope } from './scope.ts';

/**
 * Makes the temporary tables `whole`, of the users whose events are all of one person (`user`, `person`), at most `mostWhole`, and `owned`, of
 * the other such users of the question's events and 0. Returns whether an event can be of a user in `owned`, and how many are in `whole`.
 */
export const writeOwned = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
  mostWhole: number,
): Promise<{ readonly isOwned: boolean; readonly whole: number }> => {
  const { owners } = source.person;
  const { user: greatest, contact } = source.bounds;
  // Somebody may own a user of whom no event was stored yet.
  await runWith(
    connection,
    (values) => `CREATE OR REPLACE TEMP TABLE whole AS SELECT "user", any_value(person) AS person FROM ${owners}
      WHERE "user" <= ${values.integer(greatest)} GROUP BY "user"
      HAVING ${isWhole(source.through)}`,
  );
  // The person of an event that was logged with a contact is another one than the user's.
  if (contact > 0)
    await runWith(connection, (values) => {
      const scope = createScope(source, question, values);
      scope.add('"user"', 'e."user"');
      const logged = scope.rows({ withPerson: false, where: 'contact > 0' });
      return `CREATE OR REPLACE TEMP TABLE logged AS SELECT DISTINCT "user" FROM (${logged})`;
    });
  if (contact > 0) await runSQL(connection, 'DELETE FROM whole WHERE "user" IN (SELECT "user" FROM logged)');
  const [counted] = await runSQL(connection, 'SELECT count(*) AS whole FROM whole');
  const whole = Number(counted?.whole);
  if (whole > mostWhole) await runSQL(connection, 'DELETE FROM whole');
  await runWith(
    connection,
    (values) => `CREATE OR REPLACE TEMP TABLE owned AS SELECT 0 AS "user"
      UNION SELECT "user" FROM ${owners} WHERE "user" <= ${values.integer(greatest)} AND "user" NOT IN (SELECT "user" FROM whole)
      ${contact > 0 ? 'UNION SELECT "user" FROM logged' : ''}`,
  );
  const [owned] = await runSQL(connection, 'SELECT count(*) AS owned FROM owned WHERE "user" > 0');
  return { isOwned: contact > 0 || Number(owned?.owned) > 0, whole: whole > mostWhole ? 0 : whole };
};
