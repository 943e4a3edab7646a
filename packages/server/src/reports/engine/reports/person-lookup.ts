/**
 * Looks up each event's person in memory, because a join with owners returns events out of order, and sorting them is
 * slow.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../source.ts';
import { type SQL, sql } from '../sql.ts';
import { run, runForNumbers } from '../statements.ts';

/** SQL for an event's holder (alias `e`): its logged contact or, as a negative number, its user. */
export const holderOfEvent: SQL = sql`CASE WHEN e.contact > 0 THEN e.contact ELSE -e."user" END`;

/** Returns the memory that a lookup takes, in bytes. */
export const computeLookupBytes = ({ bounds }: Source): number => 8 * (bounds.user + bounds.contact + 1);

interface Stretch {
  readonly after: number;
  readonly through: number;
  readonly person: number;
}

/** Returns a function that looks up an event's person by its holder and sequence. */
export const createPersonLookup = async (connection: DuckDBConnection, source: Source) => {
  const { person: tables, bounds, through: last } = source;
  const { user: users, contact: contacts } = bounds;
  /** The person of each holder, starting with the highest user number; NaN if the person depends on the sequence. */
  const persons = Float64Array.from({ length: users + contacts + 1 }, (_, index) => index - users);
  /** Each holder's stretches, for users whose events can belong to several people. */
  const stretches = new Map<number, Stretch[]>();

  for (const { contact, owner } of await run(connection, sql`SELECT contact, owner FROM ${tables.merged}`))
    if (Number(contact) <= contacts) persons[users + Number(contact)] = Number(owner);
  const owners = await runForNumbers(
    connection,
    sql`SELECT "user"::DOUBLE, after::DOUBLE, through::DOUBLE, person::DOUBLE FROM ${tables.owners}
      WHERE "user" <= ${users} AND after < ${last}`,
  );
  for (const [user, after, through, person] of owners as [Float64Array, Float64Array, Float64Array, Float64Array][])
    for (let row = 0; row < user.length; row += 1) {
      const [from, to, owner] = [after[row] as number, through[row] as number, person[row] as number];
      const holder = -(user[row] as number);
      const isWhole = from === 0 && to >= last;
      persons[users + holder] = isWhole ? owner : Number.NaN;
      if (!isWhole)
        stretches.set(holder, [...(stretches.get(holder) ?? []), { after: from, through: to, person: owner }]);
    }

  return (holder: number, sequence: number): number => {
    const person = persons[users + holder] as number;
    if (!Number.isNaN(person)) return person;
    const stretch = stretches.get(holder)?.find(({ after, through }) => after < sequence && sequence <= through);
    return stretch?.person ?? holder;
  };
};
