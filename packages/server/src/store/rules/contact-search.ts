/**
 * How a search of contacts uses their index, for both drivers. The index holds the terms of each contact's view, as hashes, and is
 * sorted by a key: the time of creation, or the day on which the contact was last seen. A search reads candidates from one part of
 * the index, in the order of its pages or, where few match, all of them, and checks each against the contact's view.
 */
import { createHash } from 'node:crypto';
import type { ContactView } from '../../identity/contact-view.ts';
import type { ContactMerges } from '../../identity/merged-entries.ts';
import { dayMilliseconds } from '../../shared/time.ts';
import type { ContactSearch, SearchEnd } from '../store.ts';

/** The day of contacts that were never seen: the first of 1970. */
export const neverSeen = 0;

/**
 * Contacts that have changed since they were indexed, of all accounts, that a search reads as they are. Of more, it reads only those of
 * its account, in the order in which they were created, until the page is full.
 */
export const maxChanged = 2_000;
/** Contacts among which those that have changed are looked for at once. */
export const scannedAtOnce = 5_000;
/** Candidates that are sorted for a page; where more match a filter, the index is read in the order of the pages. */
export const maxCollected = 10_000;
/** Candidates after which a page ends that holds a contact. */
export const maxExamined = 4_000;
/** The contacts of a step that are read as they are, and the candidates that the first step of a page asks the index about. */
export const candidatesPerStep = 200;
/** The most that a later step asks the index about. */
export const maxCandidates = 1_000;

/** What the index knows of a contact. */
export interface Found {
  readonly contact: number;
  readonly createdTime: number;
  readonly lastSeen: number;
  readonly terms: readonly number[];
}

/** 48 bits of a hash, so that a row of the index is short whatever the value, and both databases have it as an integer. */
const termOf = (...parts: readonly string[]): number =>
  createHash('sha256').update(JSON.stringify(parts)).digest().readUIntBE(0, 6);

const statusTerm = (contactStatus: string) => termOf('status', contactStatus);
const profileTerm = (profileID: string) => termOf('profile', profileID);
const tagTerm = (tagID: string) => termOf('tag', tagID);
const attributeTerm = (attrID: string) => termOf('attr', attrID);
const valueTerm = (attrID: string, attrValue: string) => termOf('attr', attrID, attrValue);

/** Returns the terms by which a contact is found, each once. The view has the IDs that are stored, so that a merge changes no term. */
export const termsOfContact = (
  { contactStatus }: { readonly contactStatus: string },
  { fields, tags, attributes }: ContactView,
): number[] => [
  ...new Set([
    statusTerm(contactStatus),
    profileTerm(fields.contactProfileID),
    ...[...tags].map(tagTerm),
    ...[...attributes].flatMap(([attrID, value]) => [attributeTerm(attrID), valueTerm(attrID, value)]),
  ]),
];

/** Returns what remains of a range after a place that was passed. */
export const restOf = (range: KeyRange, place: SearchEnd, descending: boolean): KeyRange =>
  descending ? { ...range, before: place } : { ...range, after: place };
/** Returns the part of a range before a place, in the order of the pages. */
export const partBefore = (range: KeyRange, place: SearchEnd, descending: boolean): KeyRange =>
  descending ? { ...range, after: place } : { ...range, before: place };

/** Terms of which a contact has at least one: those of IDs that are one by merges. The index has the IDs that are stored. */
type AnyTerm = readonly number[];

/** Returns terms for each filter of a search: all its contacts have at least one of each. */
const termsOfSearch = (search: ContactSearch, { profile, tag, attr }: ContactMerges): AnyTerm[] => {
  const { contactTagID, attrID, attrValue, contactProfileID, contactStatus } = search;
  return [
    ...(contactTagID === undefined ? [] : [tag.idsOf(contactTagID).map(tagTerm)]),
    ...(attrID === undefined
      ? []
      : [attr.idsOf(attrID).map((id) => (attrValue === undefined ? attributeTerm(id) : valueTerm(id, attrValue)))]),
    ...(contactProfileID === undefined ? [] : [profile.idsOf(contactProfileID).map(profileTerm)]),
    ...(contactStatus === undefined ? [] : [[statusTerm(contactStatus)]]),
  ];
};

/** Returns a search with the IDs that stand for those that it gives. */
export const searchAsKept = (search: ContactSearch, { profile, tag, attr }: ContactMerges): ContactSearch => {
  const { contactTagID, attrID, contactProfileID } = search;
  return {
    ...search,
    ...(contactTagID !== undefined && { contactTagID: tag.keptOf(contactTagID) }),
    ...(attrID !== undefined && { attrID: attr.keptOf(attrID) }),
    ...(contactProfileID !== undefined && { contactProfileID: profile.keptOf(contactProfileID) }),
  };
};

/** The keys of a range: after < (key, contact) < before. */
export interface KeyRange {
  readonly after: SearchEnd;
  readonly before: SearchEnd;
}

/** The first numbers of contacts are 1, so this is before any contact with the key. */
const at = (key: number): SearchEnd => ({ key, contact: 0 });
const first = at(Number.MIN_SAFE_INTEGER);
const last = at(Number.MAX_SAFE_INTEGER);
const dayFrom = (time: number) => Math.max(Math.ceil(time / dayMilliseconds), neverSeen + 1);

const createdRange = ({ createdFrom, createdTo }: ContactSearch): KeyRange => ({
  after: createdFrom === undefined ? first : at(createdFrom),
  before: createdTo === undefined ? last : at(createdTo),
});
/** Contacts that were never seen are in no range of days. */
const seenRange = ({ seenFrom, seenTo }: ContactSearch): KeyRange => ({
  after: seenFrom === undefined && seenTo === undefined ? first : at(dayFrom(seenFrom ?? 0)),
  before: seenTo === undefined ? last : at(dayFrom(seenTo)),
});

export type SortKey = 'created' | 'seen';
export const keyOf = (sort: SortKey, { createdTime, lastSeen }: Pick<Found, 'createdTime' | 'lastSeen'>): number =>
  sort === 'created' ? createdTime : lastSeen;

/** Sorts ends of pages in the order in which the index has them. */
export const byKey = (a: SearchEnd, b: SearchEnd): number => a.key - b.key || a.contact - b.contact;
const isWithin = ({ after, before }: KeyRange, end: SearchEnd) => byKey(after, end) < 0 && byKey(end, before) < 0;

/** The parts of a search that the index can check. */
export interface Asked {
  readonly sort: SortKey;
  readonly descending: boolean;
  readonly terms: readonly AnyTerm[];
  readonly created: KeyRange;
  readonly seen: KeyRange;
  /** The part of the order that the page is in. */
  readonly range: KeyRange;
}

export const askedOf = (search: ContactSearch, merges: ContactMerges): Asked => {
  const { sort = 'created', descending = false, beyond } = search;
  const created = createdRange(search);
  const seen = seenRange(search);
  const { after, before } = sort === 'created' ? created : seen;
  const later = beyond && byKey(beyond, after) > 0 ? beyond : after;
  const earlier = beyond && byKey(beyond, before) < 0 ? beyond : before;
  const range = descending ? { after, before: earlier } : { after: later, before };
  return { sort, descending, terms: termsOfSearch(search, merges), created, seen, range };
};

/** Whether a contact is in the ranges of days and times, and in the part of the order that the page is in. */
export const isInRange = ({ sort, created, seen, range }: Asked, found: Omit<Found, 'terms'>): boolean => {
  const { contact, createdTime, lastSeen } = found;
  return (
    isWithin(created, { key: createdTime, contact }) &&
    isWithin(seen, { key: lastSeen, contact }) &&
    isWithin(range, { key: keyOf(sort, found), contact })
  );
};

/** Whether the index says that a contact is one of those that a search asks for; its view may say otherwise. */
export const isCandidate = (asked: Asked, found: Found): boolean =>
  isInRange(asked, found) && asked.terms.every((terms) => terms.some((term) => found.terms.includes(term)));

/** A part of the index: the contacts with one of some terms, by time of creation, or all, by a key. */
export interface IndexPart {
  readonly terms: AnyTerm | null;
  readonly key: SortKey;
  readonly range: KeyRange;
}

/** Where candidates come from. `inOrder`: the part has the order of the pages; otherwise it is small, and sorted. */
export interface Source {
  readonly part: IndexPart;
  readonly inOrder: boolean;
}

const isWhole = ({ after, before }: KeyRange) => after === first && before === last;
/** Whether a search has no range of times. */
export const isUnlimited = ({ created, seen }: Pick<Asked, 'created' | 'seen'>): boolean =>
  isWhole(created) && isWhole(seen);

/** Returns the parts of the index whose sizes decide about the source, each with the contacts of one filter of the search. */
export const partsOf = (asked: Asked): IndexPart[] => {
  const { sort, terms, created, seen } = asked;
  const other = sort === 'created' ? seen : created;
  const otherKey = sort === 'created' ? 'seen' : 'created';
  const parts: IndexPart[] = terms.map((some) => ({ terms: some, key: 'created', range: created }));
  if (!isWhole(other)) parts.push({ terms: null, key: otherKey, range: other });
  return parts;
};

/** Whether the source depends on the sizes of the parts. */
export const needsSizes = (asked: Asked, parts: readonly IndexPart[]): boolean =>
  parts.length > 1 || (parts.length === 1 && (asked.sort === 'seen' || parts[0]?.key === 'seen'));

/** Chooses the source. `sizes` are those of the parts, up to `maxCollected` + 1; none when they don't matter. */
export const sourceOf = (asked: Asked, parts: readonly IndexPart[], sizes: readonly number[]): Source => {
  const { sort, range } = asked;
  const smallest = Math.min(...sizes);
  const rarest = parts[sizes.length === 0 ? 0 : sizes.indexOf(smallest)];
  if (rarest !== undefined && sort === 'created' && rarest.terms !== null) {
    return { part: { ...rarest, range }, inOrder: true };
  }
  if (rarest !== undefined && smallest <= maxCollected) return { part: rarest, inOrder: false };
  const terms = sort === 'created' ? (asked.terms[0] ?? null) : null;
  return { part: { terms, key: sort, range }, inOrder: true };
};

/** Unites what was read for each term of a part: the first of all, in their order, each contact once. */
export const firstOf = (lists: readonly (readonly SearchEnd[])[], descending: boolean, most: number): SearchEnd[] => {
  const [list = [], ...others] = lists;
  if (others.length === 0) return [...list];
  // A contact has the same key in all lists.
  const ends = [...new Map(lists.flat().map((end) => [end.contact, end])).values()];
  return ends.sort((a, b) => (descending ? byKey(b, a) : byKey(a, b))).slice(0, most);
};
