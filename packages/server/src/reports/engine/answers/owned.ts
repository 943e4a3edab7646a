/** The users of whose events some may belong to a contact. All events of other users are people of their own. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runWith } from '../values.ts';
import { createScope } from './scope.ts';

/** Makes the temporary table `owned`: each such user of the question's events once, and 0. */
export const writeOwned = async (connection: DuckDBConnection, source: Source, question: Question): Promise<void> => {
  await runWith(connection, (values) => {
    const { user: greatest, contact } = source.bounds;
    // Somebody may own a user of whom no event was stored yet.
    const owned = [
      `SELECT 0 AS "user" UNION SELECT "user" FROM ${source.person.owners} WHERE "user" <= ${values.integer(greatest)}`,
    ];
    if (contact > 0) {
      const scope = createScope(source, question, values);
      scope.add('"user"', 'e."user"');
      owned.push(`SELECT "user" FROM (${scope.rows({ withPerson: false, where: 'contact > 0' })})`);
    }
    return `CREATE TEMP TABLE owned AS ${owned.join(' UNION ')}`;
  });
};
