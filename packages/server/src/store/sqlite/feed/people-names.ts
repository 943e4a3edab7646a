/** Looks up the people in a report. */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { PeopleNames } from '../../report-feed.ts';
import type { RequestOf } from '../../store.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import { createContactViews } from '../contacts/contact-views.ts';
import type { Connection } from '../database/connection.ts';

export const createPeopleNames = (db: Connection) => {
  const { groupsOf, viewsOf } = createContactViews(db);
  const users = db.prepare<[number, string], PeopleNames['users'][number]>(
    'SELECT user, userUUID FROM user WHERE account = ? AND user IN (SELECT value FROM json_each(?))',
  );
  // An erased contact is merged into itself.
  const contacts = db.prepare<[number, string], ContactRow>(`
    SELECT * FROM contact
    WHERE account = ? AND mergedInto IS NOT contact AND contact IN (SELECT value FROM json_each(?))`);
  return (request: RequestOf<'namePeople'>): PeopleNames => {
    const rows = contacts.all(request.account, JSON.stringify(request.contacts));
    const merged = rows.filter(({ mergedInto }) => mergedInto !== null);
    // A contact that was merged after the report counted it has only the values of its own record.
    const groups = [...groupsOf(rows.filter(({ mergedInto }) => mergedInto === null)), ...merged.map((row) => [row])];
    const views = viewsOf(groups);
    return {
      users: users.all(request.account, JSON.stringify(request.users)),
      contacts: groups.map(([row], nth) => {
        const { contact, contactUUID } = row as ContactRow;
        return { contact, contactUUID, fields: (views[nth] as ContactView).fields };
      }),
    };
  };
};
