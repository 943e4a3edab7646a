/** Reads the names of the people in a report. */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { PeopleNames } from '../../report-feed.ts';
import type { RequestOf } from '../../store.ts';
import { type ContactRow, readContacts } from '../contacts/contact-rows.ts';
import { rowsOf, viewsOf } from '../contacts/contact-views.ts';
import type { Connection } from '../database/connection.ts';

/** Reads the numbers of contacts by their contactUUIDs. */
export const numberContacts = async (
  db: Connection,
  { account, contactUUIDs }: RequestOf<'numberContacts'>,
): Promise<number[]> => {
  const rows = await db.all<{ contact: number }>(
    'SELECT contact FROM contact WHERE "contactUUID" = ANY ($1::text[]) AND account = $2',
    [contactUUIDs, account],
  );
  return rows.map(({ contact }) => contact);
};

export const namePeople = async (
  db: Connection,
  { account, users, contacts }: RequestOf<'namePeople'>,
): Promise<PeopleNames> => {
  const [namedUsers, found] = await Promise.all([
    db.all<PeopleNames['users'][number]>(
      'SELECT "user", "userUUID" FROM "user" WHERE "user" = ANY ($1::bigint[]) AND account = $2',
      [users, account],
    ),
    readContacts(db, contacts),
  ]);
  const rows = found.filter((row) => row.account === account);
  const merged = rows.filter(({ mergedInto }) => mergedInto !== null);
  const kept = rows.filter(({ mergedInto }) => mergedInto === null);
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
