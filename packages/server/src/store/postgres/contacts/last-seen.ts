/** Reads the days on which contacts were last seen. */
import { lastSeenOf } from '../../rules/last-seen.ts';
import type { AccountConnection } from '../database/connection.ts';
import type { ContactRow } from './contact-rows.ts';
import { datedStatementsOf } from './statements.ts';

/** Returns the last day on which any contact of each merged group was seen. */
export const readLastSeen = async (
  db: AccountConnection,
  groups: readonly (readonly ContactRow[])[],
): Promise<number[]> => {
  const linked = await db.all<{ contact: number; user: number; lastDay: number | null }>(
    `SELECT c.contact, c."user", u."lastDay" FROM contact_user c JOIN "user" u ON u."user" = c."user"
     WHERE c.account = $1 AND u.account = $1 AND c.contact = ANY ($2::bigint[])`,
    [db.account, groups.flat().map(({ contact }) => contact)],
  );
  const statements = await datedStatementsOf(db, [...new Set(linked.map(({ user }) => user))]);
  const usersOf = new Map<number, (typeof linked)[number][]>();
  for (const link of linked) {
    const users = usersOf.get(link.contact);
    if (users) users.push(link);
    else usersOf.set(link.contact, [link]);
  }
  return groups.map((group) => {
    const lastDays = new Map(
      group.flatMap(({ contact }) => (usersOf.get(contact) ?? []).map(({ user, lastDay }) => [user, lastDay])),
    );
    return lastSeenOf(
      group,
      [...lastDays].map(([user, lastDay]) => ({ lastDay, statements: statements.get(user) ?? [] })),
    );
  });
};
