/**
 * The contacts that meet the conditions of a report, for both drivers. The index of contacts decides (rules/contact-search.ts), or the view of
 * a contact that has changed since it was indexed.
 */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import type { ContactSearch, FedContacts, RequestOf, SearchEnd } from '../../store.ts';
import { createContactMatcher } from '../contact-presenter.ts';
import { askedOf, type Found, isInRange, isUnlimited, type KeyRange, searchAsKept } from '../contact-search.ts';

/** Returns the contacts up to `last`, the last one of a part; all others without `last`. */
export const rangeOfPart = (beyond: SearchEnd | null, last: SearchEnd | undefined): KeyRange => ({
  after: beyond ?? { key: Number.MIN_SAFE_INTEGER, contact: 0 },
  before: last ? { ...last, contact: last.contact + 1 } : { key: Number.MAX_SAFE_INTEGER, contact: 0 },
});

type IndexedTimes = Pick<Found, 'contact' | 'createdTime' | 'lastSeen'>;
/** The contacts of a part that have each term. */
type ContactsByTerm = ReadonlyMap<number, readonly number[]>;
type ContactState = Parameters<ReturnType<typeof createContactMatcher>>[0] & { readonly contact: number };

/** The contacts that have one of each list of terms. */
const withTerms = (terms: readonly (readonly number[])[], byTerm: ContactsByTerm): number[] => {
  const lists = terms.map((some) => [...new Set(some.flatMap((term) => byTerm.get(term) ?? []))]);
  const [smallest = [], ...others] = lists.sort((a, b) => a.length - b.length);
  const sets = others.map((list) => new Set(list));
  return smallest.filter((contact) => sets.every((set) => set.has(contact)));
};

/** Collects the contacts of one part. */
export const createFedContacts = (
  { account, conditions }: Pick<RequestOf<'feedContacts'>, 'account' | 'conditions'>,
  merges: ContactMerges,
) => {
  const all = conditions.map((condition) => {
    const search: ContactSearch = { account, limit: 1, ...condition };
    const query = askedOf(search, merges);
    return {
      query,
      isMet: createContactMatcher(searchAsKept(search, merges)),
      needsTimes: query.terms.length === 0 || !isUnlimited(query),
      // Of attributes that are one by merges the first one's value counts, and terms have no order.
      needsView: search.attrValue !== undefined && merges.attr.idsOf(search.attrID ?? '').length > 1,
      found: [] as number[],
    };
  });
  return {
    /** All terms that decide. */
    terms: [...new Set(all.flatMap(({ query }) => query.terms.flat()))],
    /** Whether the times of contacts decide too. */
    needsTimes: all.some(({ needsTimes }) => needsTimes),
    /** The contacts for which the index does not decide although it is up to date. */
    undecided: (byTerm: ContactsByTerm): number[] =>
      all.flatMap(({ query, needsView }) => (needsView ? withTerms(query.terms, byTerm) : [])),
    /** Adds contacts by the index. `times` has all contacts of the part if `needsTimes`, `viewed` those that are added by their views. */
    addIndexed(byTerm: ContactsByTerm, times: ReadonlyMap<number, IndexedTimes>, viewed: ReadonlySet<number>): void {
      for (const { query, needsTimes, found } of all) {
        const isFound = (contact: number): boolean => {
          if (viewed.has(contact)) return false;
          const known = times.get(contact);
          return !needsTimes || (known !== undefined && isInRange(query, known));
        };
        const candidates = query.terms.length > 0 ? withTerms(query.terms, byTerm) : times.keys();
        for (const contact of candidates) if (isFound(contact)) found.push(contact);
      }
    },
    /** Adds a contact by its view, with merges followed. */
    addViewed(state: ContactState, view: ContactView, lastSeen: number): void {
      const { contact, createdTime } = state;
      for (const { query, isMet, found } of all)
        if (isMet(state, view) && isInRange(query, { contact, createdTime, lastSeen })) found.push(contact);
    },
    done: (next: SearchEnd | null): FedContacts => ({
      contacts: all.map(({ found }) => Float64Array.from(found)),
      next,
    }),
  };
};
