/**
 * Contact search. The index has the hashed terms of each contact's view, sorted by creation time or by the day on which
 * the contact was last seen. It may be stale, so each candidate is checked against the contact's view.
 *
 * A search reads one part of the index, either in page order or, if few contacts match, completely.
 */
import { createHash } from 'node:crypto';
import type { ContactView } from '../../identity/contact-view.ts';
import type { ContactMerges } from '../../identity/merged-entries.ts';
import { dayMilliseconds } from '../../shared/time.ts';
import type { ContactSearch, SearchPosition } from '../store.ts';

/** The last-seen day of contacts that were never seen: January 1, 1970. */
export const neverSeen = 0;

/**
 * The maximum number of stale contacts, in all accounts, for which a search reads all stale contacts of its account.
 * Beyond it, a search scans its account in creation order until the page is full.
 */
export const maxStaleContacts = 2_000;
/** The number of contacts per scan for stale contacts. */
export const contactsPerScan = 5_000;
/** The maximum number of candidates that are sorted for a page. Beyond it, the index is read in page order. */
export const maxCollected = 10_000;
/** The number of candidates after which a page with at least one contact ends. */
export const maxExamined = 4_000;
/** The number of contact views read per step, and of index entries read in a page's first step. */
export const candidatesPerStep = 200;
/** The maximum number of index entries read in a later step. */
export const maxCandidates = 1_000;

/** A contact in the index. */
export interface Found {
  readonly contact: number;
  readonly createdTime: number;
  readonly lastSeen: number;
  readonly terms: readonly number[];
}

/** Returns 48 bits of a hash, so that index rows stay short and both databases can store terms as integers. */
const termOf = (...parts: readonly string[]): number =>
  createHash('sha256').update(JSON.stringify(parts)).digest().readUIntBE(0, 6);

const statusTerm = (contactStatus: string) => termOf('status', contactStatus);
const profileTerm = (profileID: string) => termOf('profile', profileID);
const tagTerm = (tagID: string) => termOf('tag', tagID);
const attributeTerm = (attrID: string) => termOf('attr', attrID);
const valueTerm = (attrID: string, attrValue: string) => termOf('attr', attrID, attrValue);

/** Returns a contact's distinct terms. The view must have stored IDs, so that a merge of entries changes no term. */
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

/** Returns what is left of a range after a position, in page order. */
export const restOf = (range: KeyRange, place: SearchPosition, descending: boolean): KeyRange =>
  descending ? { ...range, before: place } : { ...range, after: place };
/** Returns what a range contains before a position, in page order. */
export const partBefore = (range: KeyRange, place: SearchPosition, descending: boolean): KeyRange =>
  descending ? { ...range, after: place } : { ...range, before: place };

/** Alternative terms, one for each of several merged IDs: the index has stored IDs. */
type AnyTerm = readonly number[];

/** Returns the alternative terms for each filter. A matching contact has at least one of each. */
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

/** Replaces merged IDs in a search with their target IDs. */
export const resolveMergedFilters = (search: ContactSearch, { profile, tag, attr }: ContactMerges): ContactSearch => {
  const { contactTagID, attrID, contactProfileID } = search;
  return {
    ...search,
    ...(contactTagID !== undefined && { contactTagID: tag.targetOf(contactTagID) }),
    ...(attrID !== undefined && { attrID: attr.targetOf(attrID) }),
    ...(contactProfileID !== undefined && { contactProfileID: profile.targetOf(contactProfileID) }),
  };
};

/** An open range: after < (key, contact) < before. */
export interface KeyRange {
  readonly after: SearchPosition;
  readonly before: SearchPosition;
}

/** Contact numbers start at 1, so this position sorts before every contact with the key. */
const startOfKey = (key: number): SearchPosition => ({ key, contact: 0 });
const first = startOfKey(Number.MIN_SAFE_INTEGER);
const last = startOfKey(Number.MAX_SAFE_INTEGER);
const dayFrom = (time: number) => Math.max(Math.ceil(time / dayMilliseconds), neverSeen + 1);

const createdRange = ({ createdFrom, createdTo }: ContactSearch): KeyRange => ({
  after: createdFrom === undefined ? first : startOfKey(createdFrom),
  before: createdTo === undefined ? last : startOfKey(createdTo),
});
/** A range of days excludes contacts that were never seen. */
const seenRange = ({ seenFrom, seenTo }: ContactSearch): KeyRange => ({
  after: seenFrom === undefined && seenTo === undefined ? first : startOfKey(dayFrom(seenFrom ?? 0)),
  before: seenTo === undefined ? last : startOfKey(dayFrom(seenTo)),
});

export type SortKey = 'created' | 'seen';
export const keyOf = (sort: SortKey, { createdTime, lastSeen }: Pick<Found, 'createdTime' | 'lastSeen'>): number =>
  sort === 'created' ? createdTime : lastSeen;

/** Compares positions in index order. */
export const byKey = (a: SearchPosition, b: SearchPosition): number => a.key - b.key || a.contact - b.contact;
const isWithin = ({ after, before }: KeyRange, end: SearchPosition) => byKey(after, end) < 0 && byKey(end, before) < 0;

/** The conditions of a search that the index can check. */
export interface SearchPlan {
  readonly sort: SortKey;
  readonly descending: boolean;
  readonly terms: readonly AnyTerm[];
  readonly created: KeyRange;
  readonly seen: KeyRange;
  /** The page's range in the sort order. */
  readonly range: KeyRange;
}

export const planSearch = (search: ContactSearch, merges: ContactMerges): SearchPlan => {
  const { sort = 'created', descending = false, beyond } = search;
  const created = createdRange(search);
  const seen = seenRange(search);
  const { after, before } = sort === 'created' ? created : seen;
  const later = beyond && byKey(beyond, after) > 0 ? beyond : after;
  const earlier = beyond && byKey(beyond, before) < 0 ? beyond : before;
  const range = descending ? { after, before: earlier } : { after: later, before };
  return { sort, descending, terms: termsOfSearch(search, merges), created, seen, range };
};

/** Whether a contact is within the search's time ranges and the page's range. */
export const isInRange = ({ sort, created, seen, range }: SearchPlan, found: Omit<Found, 'terms'>): boolean => {
  const { contact, createdTime, lastSeen } = found;
  return (
    isWithin(created, { key: createdTime, contact }) &&
    isWithin(seen, { key: lastSeen, contact }) &&
    isWithin(range, { key: keyOf(sort, found), contact })
  );
};

/** Whether a contact matches according to the index. The contact's view decides. */
export const isCandidate = (plan: SearchPlan, found: Found): boolean =>
  isInRange(plan, found) && plan.terms.every((terms) => terms.some((term) => found.terms.includes(term)));

/**
 * A part of the index: the contacts with any of the terms, sorted by creation time. If `terms` is null, all contacts,
 * sorted by `key`.
 */
export interface IndexPart {
  readonly terms: AnyTerm | null;
  readonly key: SortKey;
  readonly range: KeyRange;
}

/**
 * The part of the index that candidates are read from. If it is not read `inOrder` (page order), it is small and is
 * sorted.
 */
export interface Source {
  readonly part: IndexPart;
  readonly inOrder: boolean;
}

const isWhole = ({ after, before }: KeyRange) => after === first && before === last;
/** Whether a search has no time ranges. */
export const isUnlimited = ({ created, seen }: Pick<SearchPlan, 'created' | 'seen'>): boolean =>
  isWhole(created) && isWhole(seen);

/** Returns the index parts that can serve as the source, one per filter. */
export const partsOf = (plan: SearchPlan): IndexPart[] => {
  const { sort, terms, created, seen } = plan;
  const other = sort === 'created' ? seen : created;
  const otherKey = sort === 'created' ? 'seen' : 'created';
  const parts: IndexPart[] = terms.map((some) => ({ terms: some, key: 'created', range: created }));
  if (!isWhole(other)) parts.push({ terms: null, key: otherKey, range: other });
  return parts;
};

/** Whether the choice of the source depends on the parts' sizes. */
export const needsSizes = (plan: SearchPlan, parts: readonly IndexPart[]): boolean =>
  parts.length > 1 || (parts.length === 1 && (plan.sort === 'seen' || parts[0]?.key === 'seen'));

/** Chooses the source. `sizes` are the parts' sizes, capped at `maxCollected` + 1; empty if they don't matter. */
export const sourceOf = (plan: SearchPlan, parts: readonly IndexPart[], sizes: readonly number[]): Source => {
  const { sort, range } = plan;
  const smallest = Math.min(...sizes);
  const rarest = parts[sizes.length === 0 ? 0 : sizes.indexOf(smallest)];
  if (rarest !== undefined && sort === 'created' && rarest.terms !== null) {
    return { part: { ...rarest, range }, inOrder: true };
  }
  if (rarest !== undefined && smallest <= maxCollected) return { part: rarest, inOrder: false };
  const terms = sort === 'created' ? (plan.terms[0] ?? null) : null;
  return { part: { terms, key: sort, range }, inOrder: true };
};

/** Merges the sorted lists of a part's terms and returns the first entries, each contact once. */
export const firstOf = (
  lists: readonly (readonly SearchPosition[])[],
  descending: boolean,
  limit: number,
): SearchPosition[] => {
  const [list = [], ...others] = lists;
  if (others.length === 0) return [...list];
  // Keeps one entry per contact, which has the same key in all lists.
  const ends = [...new Map(lists.flat().map((end) => [end.contact, end])).values()];
  return ends.sort((a, b) => (descending ? byKey(b, a) : byKey(a, b))).slice(0, limit);
};
