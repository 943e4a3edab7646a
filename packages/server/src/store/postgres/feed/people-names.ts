/** Reads the names of the people in a report. */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { PeopleNames } from '../../report-feed.ts';
import type { RequestOf } from '../../store.ts';
import { type ContactRow, readContacts } from '../contacts/contact-rows.ts';
import { rowsOf, viewsOf } from '../contacts/contact-views.ts';
import type { AccountConnection } from '../database/connection.ts';

export const namePeople = async (
  db: AccountConnection,
  { account, users, contacts }: RequestOf<'namePeople'>,
): Promise<PeopleNames> => {
  const [namedUsers, found] = await Promise.all([
    db.all<PeopleNames['users'][number]>(
      'SELECT "user", "userUUID" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[])',
      [account, users],
    ),
    readContacts(db, contacts),
  ]);
  const merged = found.filter(({ mergedInto }) => mergedInto !== null);
  const kept = found.filter(({ mergedInto }) => mergedInto === null);
  // One that was merged since the report counted it has the values of its own record only.
  const groups = [...(await rowsOf(db, kept)), ...merged.map((row) => [row])];
  const views = await viewsOf(db, groups);
  return {
    users: namedUsers,
    contacts: groups.map(([row], nth) => {
      const { contact, contactUUID } = row as ContactRow;
      return { contact, contactUUID, fields: (views[nth] as ContactView).fields };
    }),
  };
};
