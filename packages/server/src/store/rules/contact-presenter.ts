/** Builds the contacts and claims of responses from the rows that a driver has read. */
import { isDeepStrictEqual } from 'node:util';
import { type Claim as ClaimValues, type ContactView, contactFields, viewClaim } from '../../identity/contact-view.ts';
import type { ClaimDetail, ContactDetail, ContactRecord, ContactSearch } from '../store.ts';

/** Returns the name of an ID: the ID itself when it is not listed, '' when it is ''. */
export type NameOf = (kind: 'profile' | 'tag', id: string) => string;

interface Contact {
  readonly contactUUID: string;
  readonly contactStatus: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

interface Claim extends Omit<ClaimValues, 'newestLink'> {
  readonly claimID: string;
  readonly userUUID: string;
  readonly tokenID: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

export const toContactRecord = (contact: Contact, view: ContactView, nameOf: NameOf): ContactRecord => ({
  contactUUID: contact.contactUUID,
  fields: view.fields,
  contactProfileName: nameOf('profile', view.fields.contactProfileID),
  contactStatus: contact.contactStatus,
  createdTime: contact.createdTime,
  updatedTime: contact.updatedTime,
  claimed: view.claimed,
});

/** Returns every listed tag, then the contact's tags that are not listed. */
export const toTagDetails = (
  view: ContactView,
  listed: readonly { readonly id: string; readonly name: string }[],
): ContactDetail['tags'] => {
  const unlisted = [...view.tags].filter((id) => !listed.some((entry) => entry.id === id));
  return [
    ...listed.map(({ id, name }) => ({ tagID: id, tagName: name, opt: view.tags.has(id) })),
    ...unlisted.map((id) => ({ tagID: id, tagName: id, opt: true })),
  ];
};

/** `linkID` names the link that the claim made; '' when it made none. */
export const toClaimDetail = (
  claim: Claim,
  { contactUUID, linkID }: { contactUUID: string; linkID: string },
  nameOf: NameOf,
): ClaimDetail => {
  const view = viewClaim(claim);
  return {
    claimID: claim.claimID,
    contactUUID,
    userUUID: claim.userUUID,
    tokenID: claim.tokenID,
    linkID,
    createdTime: claim.createdTime,
    updatedTime: claim.updatedTime,
    state: claim.voided ? 'voided' : claim.accepted ? 'accepted' : 'open',
    fields: view.fields,
    contactProfileName: nameOf('profile', view.fields.contactProfileID),
    tags: [...view.tags],
    attributes: [...view.attributes],
  };
};

/** Returns what a browser token sees of a contact by its handle: only what this browser itself sent. */
export const toHandle = (claim: Omit<Claim, 'userUUID' | 'tokenID'>, nameOf: NameOf): ContactDetail => {
  const view = viewClaim(claim);
  return {
    contactUUID: claim.claimID,
    fields: view.fields,
    contactProfileName: nameOf('profile', view.fields.contactProfileID),
    contactStatus: 'active',
    createdTime: claim.createdTime,
    updatedTime: claim.updatedTime,
    claimed: [],
    tags: [...view.tags].map((id) => ({ tagID: id, tagName: nameOf('tag', id), opt: true })),
    attributes: [...view.attributes],
  };
};

/** Returns a function that checks all filters of a search except `address`. */
export const createContactMatcher = (search: ContactSearch) => {
  const text = search.text?.normalize('NFC').toLowerCase();
  return ({ contactStatus }: Pick<Contact, 'contactStatus'>, { fields, tags, attributes }: ContactView): boolean =>
    (search.contactStatus === undefined || contactStatus === search.contactStatus) &&
    (search.contactProfileID === undefined || fields.contactProfileID === search.contactProfileID) &&
    (search.contactTagID === undefined || tags.has(search.contactTagID)) &&
    (search.attrID === undefined || attributes.has(search.attrID)) &&
    (text === undefined ||
      [`${fields.contactFirstname} ${fields.contactLastname}`, fields.contactEmailaddress].some((name) =>
        name.normalize('NFC').toLowerCase().includes(text),
      ));
};

/** Returns the names of the fields whose visible values differ. */
export const changedFields = (before: ContactView, after: ContactView): string[] => [
  ...contactFields.filter((name) => before.fields[name] !== after.fields[name]),
  ...(isDeepStrictEqual(before.tags, after.tags) ? [] : ['contactTagID']),
  ...(isDeepStrictEqual(before.attributes, after.attributes) ? [] : ['contactAttr']),
];
