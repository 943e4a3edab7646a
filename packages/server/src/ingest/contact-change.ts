/** From a checked request to what the store is asked to write of a contact. */

import type { accountContact, createContactInput } from '@firsthand/contract/contact';
import type * as z from 'zod';
import { type ContactField, contactFields } from '../identity/contact-view.ts';
import type { ContactChange, NewContact } from '../store/store.ts';

type CheckedContact = z.output<typeof createContactInput>;
type CheckedChange = z.output<typeof accountContact>;

/** The e-mail address goes another way: it names the contact. */
const plainFields = contactFields.filter((name) => name !== 'contactEmailaddress');

/** `a, b, -c`: what each tag ID stands for in the end; the last mention wins. */
const parseTags = (text: string | undefined): Map<string, boolean> => {
  const tags = new Map<string, boolean>();
  for (const part of text?.split(',') ?? []) {
    const tagID = part.trim();
    if (tagID.startsWith('-')) tags.set(tagID.slice(1), false);
    else tags.set(tagID, true);
  }
  tags.delete('');
  return tags;
};

/** What createContact says of a contact; empty values say nothing. */
export const contactValues = (input: CheckedContact): Pick<NewContact, 'fields' | 'tags' | 'attributes'> => {
  const fields: Partial<Record<ContactField, string>> = {};
  for (const name of plainFields) if (input[name]) fields[name] = input[name];
  return {
    fields,
    tags: [...parseTags(input.contactTagID).keys()],
    attributes: input.contactAttr?.map(({ attrID, attrValue }) => [attrID, attrValue] as const) ?? [],
  };
};

/** What updateContact, or a contact in an account's body, changes; null clears or removes. */
export const contactChanges = (
  input: CheckedChange,
): Pick<ContactChange, 'fields' | 'addedTags' | 'removedTags' | 'attributes' | 'contactStatus'> => {
  const fields: Partial<Record<ContactField, string | null>> = {};
  for (const name of plainFields) if (input[name] !== undefined) fields[name] = input[name];
  const tags = [...parseTags(input.contactTagID)];
  return {
    fields,
    addedTags: tags.flatMap(([tagID, has]) => (has ? [tagID] : [])),
    removedTags: tags.flatMap(([tagID, has]) => (has ? [] : [tagID])),
    attributes: input.contactAttr?.map(({ attrID, attrValue }) => [attrID, attrValue] as const) ?? [],
    contactStatus: input.contactStatus,
  };
};
