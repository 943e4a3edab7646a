/** A contact's values as a flat record, so that making and undoing a change is a comparison of two records. */
import type { RequestFor, ResponseFor } from '@firsthand/client';

export type ContactResult = ResponseFor<'searchContact'>['contact'][number];

export const textFields = {
  contactTitle: 'Title (Ms, Dr)',
  contactFirstname: 'First name',
  contactLastname: 'Last name',
  contactEmailaddress: 'E-mail address',
  contactTelephone: 'Phone',
  contactMobile: 'Mobile',
  contactJobRole: 'Job role',
  contactExternalID: 'Your ID',
} as const;
type TextField = keyof typeof textFields;
const textNames = Object.keys(textFields) as TextField[];

/**
 * Values by field name, `tag:<tagID>` ('yes' if the contact has the tag) or `attr:<attrID>`. Absent is the same as ''.
 */
export type ContactValues = Readonly<Record<string, string>>;

export const tagKey = (tagID: string): string => `tag:${tagID}`;
export const attributeKey = (attrID: string): string => `attr:${attrID}`;
export const hasTag = 'yes';

export const valuesOf = (contact: Omit<ContactResult, 'lastSeenTime'>): ContactValues => ({
  ...Object.fromEntries(textNames.map((name) => [name, contact[name]])),
  contactProfileID: contact.contactProfileID,
  contactStatus: contact.contactStatus,
  ...Object.fromEntries(contact.tag.filter(({ opt }) => opt).map(({ tagID }) => [tagKey(tagID), hasTag])),
  ...Object.fromEntries(contact.contactAttr.map(({ attrID, attrValue }) => [attributeKey(attrID), attrValue])),
});

const changedKeys = (before: ContactValues, after: ContactValues): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => (before[key] ?? '') !== (after[key] ?? ''),
  );

type ContactChange = Omit<RequestFor<'updateContact'>, 'contactUUID'>;

/** The updateContact fields that turn `before` into `after`; undefined if nothing differs. */
export const diffContactValues = (before: ContactValues, after: ContactValues): ContactChange | undefined => {
  const keys = changedKeys(before, after);
  if (keys.length === 0) return undefined;
  const named = (prefix: string) =>
    keys.flatMap((key) => (key.startsWith(prefix) ? [[key.slice(prefix.length), after[key] ?? ''] as const] : []));
  const tags = named('tag:').map(([tagID, value]) => (value === hasTag ? tagID : `-${tagID}`));
  const attributes = named('attr:').map(([attrID, value]) => ({ attrID, attrValue: value === '' ? null : value }));
  return {
    ...Object.fromEntries(keys.filter((key) => !key.includes(':')).map((key) => [key, after[key] || null])),
    ...(tags.length > 0 && { contactTagID: tags.join(',') }),
    ...(attributes.length > 0 && { contactAttr: attributes }),
  } as ContactChange;
};

/** The current values with a change undone, except for values that have changed again in the meantime. */
export const revertChange = (before: ContactValues, after: ContactValues, now: ContactValues): ContactValues => ({
  ...now,
  ...Object.fromEntries(
    changedKeys(before, after)
      .filter((key) => (now[key] ?? '') === (after[key] ?? ''))
      .map((key) => [key, before[key] ?? '']),
  ),
});
