/** Reads the names of the people in a report. */
import type { PeopleNames } from '../../report-feed.ts';
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const namePeople = async (
  db: Connection,
  { account, users, contacts }: RequestOf<'namePeople'>,
): Promise<PeopleNames> => {
  const [namedUsers, namedContacts] = await Promise.all([
    db.all<PeopleNames['users'][number]>(
      'SELECT "user", "userUUID" FROM "user" WHERE "user" = ANY ($1::bigint[]) AND account = $2',
      [users, account],
    ),
    db.all<PeopleNames['contacts'][number]>(
      'SELECT contact, "contactUUID" FROM contact WHERE contact = ANY ($1::bigint[]) AND account = $2',
      [contacts, account],
    ),
  ]);
  return { users: namedUsers, contacts: namedContacts };
};
