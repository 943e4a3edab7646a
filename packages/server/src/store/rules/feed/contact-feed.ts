/**
 * Selects the contacts that meet a report's conditions. Checks the contact index (rules/contact-search.ts), or the view
 * of a contact that has changed since it was indexed.
 */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import type { ContactFeedPage, ContactSearch, RequestOf, SearchPosition } from '../../store.ts';
import { createContactMatcher } from '../contact-presenter.ts';
import {
  type Found,
  isInRange,
  isUnlimited,
  type KeyRange,
  planSearch,
  resolveMergedFilters,
} from '../contact-search.ts';

/** Returns a part's range: the contacts after `beyond`, up to and including `last`, if any. */
export const toPartRange = (beyond: SearchPosition | null, last: SearchPosition | undefined): KeyRange => ({
  after: beyond ?? { key: Number.MIN_SAFE_INTEGER, contact: 0 },
  before: last ? { ...last, contact: last.contact + 1 } : { key: Number.MAX_SAFE_INTEGER, contact: 0 },
});

type IndexedTimes = Pick<Found, 'contact' | 'createdTime' | 'lastSeen'>;
/** A part's contacts, by term. */
type ContactsByTerm = ReadonlyMap<number, readonly number[]>;
type ContactState = Parameters<ReturnType<typeof createContactMatcher>>[0] & { readonly contact: number };

/** Returns the contacts that have at least one term from each list. */
const findByTerms = (terms: readonly (readonly number[])[], byTerm: ContactsByTerm): number[] => {
  const lists = terms.map((some) => [...new Set(some.flatMap((term) => byTerm.get(term) ?? []))]);
  const [smallest = [], ...others] = lists.sort((a, b) => a.length - b.length);
  const sets = others.map((list) => new Set(list));
  return smallest.filter((contact) => sets.every((set) => set.has(contact)));
};

/** Collects one part's contacts. */
export const createContactFeedPage = (
  { account, conditions }: Pick<RequestOf<'feedContacts'>, 'account' | 'conditions'>,
  merges: ContactMerges,
) => {
  const all = conditions.map((condition) => {
    const search: ContactSearch = { account, limit: 1, ...condition };
    const query = planSearch(search, merges);
    return {
      query,
      isMet: createContactMatcher(resolveMergedFilters(search, merges)),
      needsTimes: query.terms.length === 0 || !isUnlimited(query),
      // If attributes are merged, the value of the first one counts, but terms have no order.
      needsView: search.attrValue !== undefined && merges.attr.idsOf(search.attrID ?? '').length > 1,
      matches: [] as number[],
    };
  });
  return {
    /** All terms in the conditions. */
    terms: [...new Set(all.flatMap(({ query }) => query.terms.flat()))],
    /** Whether a condition depends on the contacts' times. */
    needsTimes: all.some(({ needsTimes }) => needsTimes),
    /** The contacts whose view must be checked even if the index is up to date. */
    undecided: (byTerm: ContactsByTerm): number[] =>
      all.flatMap(({ query, needsView }) => (needsView ? findByTerms(query.terms, byTerm) : [])),
    /**
     * Adds the contacts that match according to the index. `times` are all of the part's contacts, if `needsTimes`.
     * `viewed` are the contacts that `addViewed` handles instead.
     */
    addIndexed(byTerm: ContactsByTerm, times: ReadonlyMap<number, IndexedTimes>, viewed: ReadonlySet<number>): void {
      for (const { query, needsTimes, matches } of all) {
        const isMatch = (contact: number): boolean => {
          if (viewed.has(contact)) return false;
          const indexed = times.get(contact);
          return !needsTimes || (indexed !== undefined && isInRange(query, indexed));
        };
        const candidates = query.terms.length > 0 ? findByTerms(query.terms, byTerm) : times.keys();
        for (const contact of candidates) if (isMatch(contact)) matches.push(contact);
      }
    },
    /** Adds a contact to the conditions that its view meets. Merges must be resolved in the view. */
    addViewed(state: ContactState, view: ContactView, lastSeen: number): void {
      const { contact, createdTime } = state;
      for (const { query, isMet, matches } of all)
        if (isMet(state, view) && isInRange(query, { contact, createdTime, lastSeen })) matches.push(contact);
    },
    done: (next: SearchPosition | null): ContactFeedPage => ({
      contacts: all.map(({ matches }) => Float64Array.from(matches)),
      next,
    }),
  };
};
