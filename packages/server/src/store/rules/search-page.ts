/** Collects the contacts of one page of a search: those that the index returns in order, and others that belong between them. */
import type { ContactSearch, FoundContact, FoundContacts, SearchEnd } from '../store.ts';
import { createFoundPage } from './contact-lists.ts';
import { byKey } from './contact-search.ts';

/** A contact that matches, and its place in the order. */
export interface Match {
  readonly end: SearchEnd;
  readonly contact: FoundContact;
}

export const createSearchPage = ({ limit, descending, beyond }: ContactSearch) => {
  const compare = (a: Match, b: Match) => (descending ? byKey(b.end, a.end) : byKey(a.end, b.end));
  const isBefore = (end: SearchEnd, place: SearchEnd) => (descending ? byKey(place, end) : byKey(end, place)) < 0;
  const page = createFoundPage(limit);
  /** The contacts of the page. One may both wait and be passed: it was indexed while the page was read. */
  const added = new Set<number>();
  let waiting: Match[] = [];
  let isSorted = true;
  /** How many of those that wait are on the page. */
  let passed = 0;
  let end = beyond;

  /** Sorts those that wait, and drops those that can't be on the page: the first after it decides only whether there are more. */
  const sort = () => {
    if (!isSorted) waiting = waiting.sort(compare).slice(0, limit + 1);
    isSorted = true;
  };
  /** Adds a match. Returns the page when it is full already. */
  const add = (match: Match): FoundContacts | undefined => {
    if (added.has(match.end.contact)) return undefined;
    if (page.isFull()) return { contacts: page.contacts, next: end as SearchEnd };
    page.add(match.contact);
    added.add(match.end.contact);
    end = match.end;
    return undefined;
  };
  /** Adds the waiting matches before a place of the order. */
  const addBefore = (place?: SearchEnd): FoundContacts | undefined => {
    sort();
    for (let next = waiting[passed]; next && (!place || isBefore(next.end, place)); next = waiting[passed]) {
      const full = add(next);
      if (full) return full;
      passed += 1;
    }
    return undefined;
  };

  return {
    /** Notes a match that the index may not know. Before the first call of `pass`. */
    wait(match: Match): void {
      waiting.push(match);
      isSorted = false;
      if (waiting.length > 2 * limit + 2) sort();
    },
    /** How many matches wait, up to one more than fit. */
    waiting: (): number => Math.min(waiting.length, limit + 1),
    /** Passes a place of the order, and adds the contact there if it matches. Returns the page when it is full. */
    pass: (place: SearchEnd, match: Match | undefined): FoundContacts | undefined =>
      addBefore(place) ?? (match && add(match)),
    isEmpty: (): boolean => page.contacts.length === 0,
    /** Ends the page at a place that was passed. */
    endAt: (next: SearchEnd): FoundContacts => ({ contacts: page.contacts, next }),
    /** Ends the page where no more candidates follow, or only after `next`. */
    end: (next: SearchEnd | null = null): FoundContacts => addBefore() ?? { contacts: page.contacts, next },
  };
};
export type SearchPage = ReturnType<typeof createSearchPage>;
