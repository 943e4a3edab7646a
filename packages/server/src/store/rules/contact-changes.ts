/** Computes what an update of a contact writes, and the names of the values that it changes. */
import { isDeepStrictEqual } from 'node:util';
import { type ContactView, contactFields, type Values } from '../../identity/contact-view.ts';
import type { ContactChange, NewContact } from '../store.ts';
import type { NewKeys } from './contact-keys.ts';

/** A contact that is found by its keys, or created. */
export type CreatedContact = Pick<
  NewContact,
  'account' | 'externalID' | 'address' | 'newContactUUID' | 'verified' | 'time'
>;

/** As CreatedContact, by a server token; a null external ID, which takes an address, is cleared. */
export type PutContact = Omit<CreatedContact, 'verified' | 'time' | 'externalID'> & Pick<NewKeys, 'externalID'>;

export interface WrittenContact
  extends Pick<ContactChange, 'fields' | 'addedTags' | 'removedTags' | 'attributes' | 'contactStatus' | 'time' | 'by'> {
  readonly keys: NewKeys;
  /** The contact was found by one of several keys: those that its person has already are not written. */
  readonly isFound?: boolean;
}

/** Returns the fields to write. A cleared field becomes '', unlike one that was never set, so that no claim fills it. */
export const writtenFields = (fields: ContactChange['fields']): Values['fields'] =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? '']));

/** Returns the names of the fields whose visible values differ. */
export const changedFields = (before: ContactView, after: ContactView): string[] => [
  ...contactFields.filter((name) => before.fields[name] !== after.fields[name]),
  ...(isDeepStrictEqual(before.tags, after.tags) ? [] : ['contactTagID']),
  ...(isDeepStrictEqual(before.attributes, after.attributes) ? [] : ['contactAttr']),
];
