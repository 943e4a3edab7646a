/** Builds contacts and claims for responses from database rows. */
import { type ContactField, type ContactView, contactFields, viewClaim } from '../../identity/contact-view.ts';
import type { ContactMerges } from '../../identity/merged-entries.ts';
import { currentStatement, type Statement } from '../../identity/statements.ts';
import { dayMilliseconds } from '../../shared/time.ts';
import type {
  ClaimDetail,
  ContactDetail,
  ContactRecord,
  ContactSearch,
  FoundContact,
  LinkDetail,
  ListedEntry,
  MergeDetail,
} from '../store.ts';
import { type ClaimRow, valuesOfHandle } from './claims.ts';
import { neverSeen } from './contact-search.ts';
import type { StatementRow } from './links.ts';

/** Returns the name of an ID: the ID itself if it is unlisted, '' for ''. */
export type NameOf = (kind: 'profile' | 'tag', id: string) => string;

type Contact = Pick<ContactRecord, 'contactUUID' | 'contactStatus' | 'createdTime' | 'updatedTime'>;

const toContactRecord = (contact: Contact, view: ContactView, nameOf: NameOf): ContactRecord => ({
  contactUUID: contact.contactUUID,
  fields: view.fields,
  contactProfileName: nameOf('profile', view.fields.contactProfileID),
  contactStatus: contact.contactStatus,
  createdTime: contact.createdTime,
  updatedTime: contact.updatedTime,
  claimed: view.claimed,
});

/**
 * Returns all tags in the catalogue `listed` (merged tags only if the view has them), then the view's unlisted tags.
 */
export const toContactDetail = (
  contact: Contact,
  view: ContactView,
  nameOf: NameOf,
  listed: readonly Pick<ListedEntry, 'id' | 'name' | 'mergedInto'>[],
): ContactDetail => {
  const unlisted = [...view.tags].filter((id) => !listed.some((entry) => entry.id === id));
  return {
    ...toContactRecord(contact, view, nameOf),
    tags: [
      ...listed
        .filter(({ id, mergedInto }) => mergedInto === null || view.tags.has(id))
        .map(({ id, name }) => ({ tagID: id, tagName: name, opt: view.tags.has(id) })),
      ...unlisted.map((id) => ({ tagID: id, tagName: nameOf('tag', id), opt: true })),
    ],
    attributes: [...view.attributes],
  };
};

export const toClaimDetail = (
  claim: ClaimRow & Pick<ClaimDetail, 'contactUUID' | 'userUUID' | 'tokenID' | 'linkID'>,
  nameOf: NameOf,
  merges: ContactMerges,
): ClaimDetail => {
  const view = viewClaim(claim, merges);
  return {
    claimID: claim.claimID,
    contactUUID: claim.contactUUID,
    userUUID: claim.userUUID,
    tokenID: claim.tokenID,
    linkID: claim.linkID,
    createdTime: claim.createdTime,
    updatedTime: claim.updatedTime,
    state: claim.voided ? 'voided' : claim.accepted ? 'accepted' : 'open',
    fields: view.fields,
    contactProfileName: nameOf('profile', view.fields.contactProfileID),
    tags: [...view.tags],
    attributes: [...view.attributes],
  };
};

interface MergedRow {
  readonly contact: number;
  readonly contactUUID: string;
  readonly mergedInto: number | null;
  readonly mergedTime: number | null;
}

/** `group` is a contact and all contacts merged into it. `fieldsOf` returns the values of a contact's own record. */
export const toMergeDetails = <Row extends MergedRow>(
  group: readonly Row[],
  fieldsOf: (row: Row) => Readonly<Partial<Record<ContactField, string>>>,
  { profile }: Pick<ContactMerges, 'profile'>,
): MergeDetail[] => {
  const uuids = new Map(group.map(({ contact, contactUUID }) => [contact, contactUUID]));
  const none = Object.fromEntries(contactFields.map((name) => [name, ''])) as Record<ContactField, string>;
  const merged = group.filter(({ mergedInto }) => mergedInto !== null);
  const timeOf = ({ mergedTime }: Row): number => mergedTime as number;
  return merged
    .toSorted((a, b) => timeOf(a) - timeOf(b) || a.contact - b.contact)
    .map((row) => {
      const fields = { ...none, ...fieldsOf(row) };
      return {
        contactUUID: row.contactUUID,
        fields: { ...fields, contactProfileID: profile.targetOf(fields.contactProfileID) },
        intoContactUUID: uuids.get(row.mergedInto as number) as string,
        mergedTime: timeOf(row),
      };
    });
};

/** `statements` are all statements of the link's user, ascending by sequence. */
export const toLinkDetail = (
  link: StatementRow & Pick<LinkDetail, 'contactUUID' | 'userUUID'>,
  statements: readonly Statement[],
): LinkDetail => ({
  linkID: String(link.sequence),
  userUUID: link.userUUID,
  contactUUID: link.contactUUID,
  linkTime: link.time,
  verified: link.verified,
  voided: link.voided,
  current: currentStatement(statements)?.sequence === link.sequence,
});

/** Returns the contact that a handle shows: only values that this browser sent itself (rules/claims.ts). */
export const toHandle = (claim: ClaimRow, nameOf: NameOf, merges: ContactMerges): ContactDetail => {
  const contact = { ...claim, contactUUID: claim.claimID, contactStatus: 'active' };
  return toContactDetail(contact, viewClaim({ values: valuesOfHandle(claim) }, merges), nameOf, []);
};

/** Returns a contact for search results, with only its own tags, because a catalogue can have a thousand. */
export const toFoundContact = (
  contact: Contact & Pick<FoundContact, 'contact'>,
  view: ContactView,
  lastSeen: number,
  nameOf: NameOf,
): FoundContact => ({
  ...toContactDetail(contact, view, nameOf, []),
  contact: contact.contact,
  lastSeenTime: lastSeen === neverSeen ? null : lastSeen * dayMilliseconds,
});

/**
 * Returns a function that checks all of a search's filters except keys and time ranges. Views have merged IDs resolved,
 * so `search` must too (resolveMergedFilters).
 */
export const createContactMatcher = (search: ContactSearch) => {
  const text = search.text?.normalize('NFC').toLowerCase();
  return ({ contactStatus }: Contact, { fields, tags, attributes }: ContactView): boolean =>
    (search.contactStatus === undefined || contactStatus === search.contactStatus) &&
    (search.contactProfileID === undefined || fields.contactProfileID === search.contactProfileID) &&
    (search.contactTagID === undefined || tags.has(search.contactTagID)) &&
    (search.attrID === undefined || attributes.has(search.attrID)) &&
    (search.attrValue === undefined || attributes.get(search.attrID ?? '') === search.attrValue) &&
    (text === undefined ||
      [`${fields.contactFirstname} ${fields.contactLastname}`, fields.contactEmailaddress].some((name) =>
        name.normalize('NFC').toLowerCase().includes(text),
      ));
};
