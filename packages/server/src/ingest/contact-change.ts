/** Converts a validated request into the contact values that the store writes. */
import type { InputOf } from '@firsthand/contract/operations';
import { type PlainField, plainFields } from '../identity/contact-view.ts';
import type { ContactChange, NewContact } from '../store/store.ts';

/** Parses `a, b, -c`: true for a tag to add, false for one to remove. The last mention of a tag wins. */
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

/** The fields of createContact; a contact in an import can lack a profile. */
export type ContactInput = Omit<InputOf<'createContact'>, 'contactProfileID'> & {
  readonly contactProfileID?: string | undefined;
};

/** Returns the contact values in a createContact request, without empty values. */
export const contactValues = (input: ContactInput): Pick<NewContact, 'fields' | 'tags' | 'attributes'> => {
  const fields: Partial<Record<PlainField, string>> = {};
  for (const name of plainFields) if (input[name]) fields[name] = input[name];
  return {
    fields,
    tags: [...parseTags(input.contactTagID).keys()],
    attributes: input.contactAttr?.map(({ attrID, attrValue }) => [attrID, attrValue] as const) ?? [],
  };
};

/**
 * Returns the changes in an updateContact request, or for a contact in createAccount or updateAccount. Null clears or
 * removes a value.
 */
export const contactChanges = (
  input: InputOf<'updateContact'>,
): Pick<ContactChange, 'fields' | 'addedTags' | 'removedTags' | 'attributes' | 'contactStatus'> => {
  const fields: Partial<Record<PlainField, string | null>> = {};
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
