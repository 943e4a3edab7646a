/** Reads users' links for an export. */
import { linkedContactsOf, toUserLinks } from '../../rules/feed/user-links.ts';
import type { RequestOf, UserLinks } from '../../store.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';

export const createUserLinks = (db: Connection) => {
  const statements = createStatementReader(db);
  const usersOf = db
    .prepare<[number, string], [user: number, userUUID: string]>(
      'SELECT user, userUUID FROM user WHERE account = ? AND user IN (SELECT value FROM json_each(?))',
    )
    .raw();
  const contactsOf = db
    .prepare<[string], [contact: number, contactUUID: string]>(
      'SELECT contact, contactUUID FROM contact WHERE contact IN (SELECT value FROM json_each(?))',
    )
    .raw();
  return ({ account, users }: RequestOf<'listUserLinks'>): UserLinks[] => {
    const lists = usersOf
      .all(account, JSON.stringify(users))
      .map(([user, userUUID]) => [userUUID, statements.ofUser(user)] as const);
    const contacts = linkedContactsOf(lists.map(([, list]) => list));
    const contactUUIDs = new Map(contactsOf.all(JSON.stringify(contacts)));
    return lists.map(([userUUID, list]) => toUserLinks(userUUID, list, contactUUIDs));
  };
};
