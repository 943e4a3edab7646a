/** Computes what a contact update writes, and which values it changes. */
import { isDeepStrictEqual } from 'node:util';
import { type ContactView, contactFields, type Values } from '../../identity/contact-view.ts';
import type { ContactChange, NewContact } from '../store.ts';
import type { NewKeys } from './contact-keys.ts';

/** A contact that is found by its keys or created if there is none. */
export type CreatedContact = Pick<
  NewContact,
  'account' | 'externalID' | 'address' | 'newContactUUID' | 'verified' | 'time'
>;

/**
 * Like CreatedContact, from a server token. A null external ID clears the contact's external ID, and requires an
 * address.
 */
export type PutContact = Omit<CreatedContact, 'verified' | 'time' | 'externalID'> & Pick<NewKeys, 'externalID'>;

export interface ContactUpdate
  extends Pick<ContactChange, 'fields' | 'addedTags' | 'removedTags' | 'attributes' | 'contactStatus' | 'time' | 'by'> {
  readonly keys: NewKeys;
  /**
   * Whether the contact was found by one of several keys. If so, keys that another contact of the same person already
   * has are not written.
   */
  readonly isFound?: boolean;
}

/** Returns the fields to write. A cleared field becomes '' rather than unset, so that no claim fills it. */
export const toStoredFields = (fields: ContactChange['fields']): Values['fields'] =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? '']));

/** Returns the names of the fields whose visible values differ. */
export const changedFields = (before: ContactView, after: ContactView): string[] => [
  ...contactFields.filter((name) => before.fields[name] !== after.fields[name]),
  ...(isDeepStrictEqual(before.tags, after.tags) ? [] : ['contactTagID']),
  ...(isDeepStrictEqual(before.attributes, after.attributes) ? [] : ['contactAttr']),
];
