/** Computes what an update of a contact writes, and the names of the values that it changes. */
import { isDeepStrictEqual } from 'node:util';
import { type ContactView, contactFields, type Values } from '../../identity/contact-view.ts';
import type { ContactChange, NewContact } from '../store.ts';

export type CreatedContact = Pick<NewContact, 'account' | 'address' | 'newContactUUID' | 'verified' | 'time'>;

export type WrittenContact = Omit<ContactChange, 'account'>;

/** Returns the address that replaces the contact's own. Without a contactUUID, the address only names the contact. */
export const newAddress = ({ contactUUID, address }: WrittenContact): string | undefined =>
  contactUUID === undefined ? undefined : address;

/** Returns the fields to write. A cleared field becomes '', unlike one that was never set, so that no claim fills it. */
export const writtenFields = (fields: ContactChange['fields']): Values['fields'] =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? '']));

/** Returns the names of the fields whose visible values differ. */
export const changedFields = (before: ContactView, after: ContactView): string[] => [
  ...contactFields.filter((name) => before.fields[name] !== after.fields[name]),
  ...(isDeepStrictEqual(before.tags, after.tags) ? [] : ['contactTagID']),
  ...(isDeepStrictEqual(before.attributes, after.attributes) ? [] : ['contactAttr']),
];
