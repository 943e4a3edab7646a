/** Reads the names of the people in a report. */
import type { PeopleNames } from '../../report-feed.ts';
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const createPeopleNames = (db: Connection) => {
  const users = db.prepare<[number, string], PeopleNames['users'][number]>(
    'SELECT user, userUUID FROM user WHERE account = ? AND user IN (SELECT value FROM json_each(?))',
  );
  // An erased contact is merged into itself.
  const contacts = db.prepare<[number, string], PeopleNames['contacts'][number]>(`
    SELECT contact, contactUUID FROM contact
    WHERE account = ? AND mergedInto IS NOT contact AND contact IN (SELECT value FROM json_each(?))`);
  return (asked: RequestOf<'namePeople'>): PeopleNames => ({
    users: users.all(asked.account, JSON.stringify(asked.users)),
    contacts: contacts.all(asked.account, JSON.stringify(asked.contacts)),
  });
};
