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
  const [namedUsers, rows] = await Promise.all([
    db.all<PeopleNames['users'][number]>(
      'SELECT "user", "userUUID" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[])',
      [account, users],
    ),
    readContacts(db, contacts),
  ]);
  const merged = rows.filter(({ mergedInto }) => mergedInto !== null);
  const unmerged = rows.filter(({ mergedInto }) => mergedInto === null);
  // A contact that was merged after the report counted it has only the values of its own record.
  const groups = [...(await rowsOf(db, unmerged)), ...merged.map((row) => [row])];
  const views = await viewsOf(db, groups);
  return {
    users: namedUsers,
    contacts: groups.map(([row], nth) => {
      const { contact, contactUUID } = row as ContactRow;
      return { contact, contactUUID, fields: (views[nth] as ContactView).fields };
    }),
  };
};
