/** Reads users' links for an export. */
import { linkedContactsOf, toUserLinks } from '../../rules/feed/user-links.ts';
import type { RequestOf, UserLinks } from '../../store.ts';
import { readContacts } from '../contacts/contact-rows.ts';
import { statementsOf } from '../contacts/statements.ts';
import { userUUIDsOf } from '../contacts/users.ts';
import type { AccountConnection } from '../database/connection.ts';

export const listUserLinks = async (
  db: AccountConnection,
  { users }: RequestOf<'listUserLinks'>,
): Promise<UserLinks[]> => {
  const userUUIDs = await userUUIDsOf(db, users);
  const lists = await statementsOf(db, [...userUUIDs.keys()]);
  const contacts = await readContacts(db, linkedContactsOf(lists.values()));
  const contactUUIDs = new Map(contacts.map(({ contact, contactUUID }) => [contact, contactUUID]));
  return [...userUUIDs].map(([user, userUUID]) => toUserLinks(userUUID, lists.get(user) ?? [], contactUUIDs));
};
