/**
 * Builds a page of search results from the index's contacts, which arrive in order, and stale contacts that belong
 * between them.
 */
import type { ContactSearch, FoundContact, FoundContacts, SearchPosition } from '../store.ts';
import { createPageBuilder } from './contact-lists.ts';
import { byKey } from './contact-search.ts';

/** A matching contact and its position in the sort order. */
export interface Match {
  readonly end: SearchPosition;
  readonly contact: FoundContact;
}

export const createSearchPage = ({ limit, descending, beyond }: ContactSearch) => {
  const compare = (a: Match, b: Match) => (descending ? byKey(b.end, a.end) : byKey(a.end, b.end));
  const isBefore = (end: SearchPosition, position: SearchPosition) =>
    (descending ? byKey(position, end) : byKey(end, position)) < 0;
  const page = createPageBuilder(limit);
  /**
   * The contacts on the page. A contact that was indexed while the page was being read can be both waiting and in the
   * index.
   */
  const added = new Set<number>();
  let waiting: Match[] = [];
  let isSorted = true;
  /** The number of waiting matches that have been added to the page. */
  let passed = 0;
  let end = beyond;

  /**
   * Sorts the waiting matches and drops those that don't fit on the page. Keeps one more than `limit`, to determine
   * whether there is a next page.
   */
  const sort = () => {
    if (!isSorted) waiting = waiting.sort(compare).slice(0, limit + 1);
    isSorted = true;
  };
  /** Adds a match. Returns the page if there is no room for the match. */
  const add = (match: Match): FoundContacts | undefined => {
    if (added.has(match.end.contact)) return undefined;
    if (page.isFull()) return { contacts: page.contacts, next: end as SearchPosition };
    page.add(match.contact);
    added.add(match.end.contact);
    end = match.end;
    return undefined;
  };
  /** Adds the waiting matches that come before a position or, without one, all. */
  const addBefore = (position?: SearchPosition): FoundContacts | undefined => {
    sort();
    for (let next = waiting[passed]; next && (!position || isBefore(next.end, position)); next = waiting[passed]) {
      const full = add(next);
      if (full) return full;
      passed += 1;
    }
    return undefined;
  };

  return {
    /** Adds a match that the index may lack. Call it before the first `pass`. */
    wait(match: Match): void {
      waiting.push(match);
      isSorted = false;
      if (waiting.length > 2 * limit + 2) sort();
    },
    /** The number of waiting matches, but at most one more than fits on the page. */
    waiting: (): number => Math.min(waiting.length, limit + 1),
    /** Advances to a position and adds its contact if it matches. Returns the page if it is full. */
    pass: (position: SearchPosition, match: Match | undefined): FoundContacts | undefined =>
      addBefore(position) ?? (match && add(match)),
    isEmpty: (): boolean => page.contacts.length === 0,
    /** Ends the page at a position that has been passed. */
    endAt: (next: SearchPosition): FoundContacts => ({ contacts: page.contacts, next }),
    /** Ends the page when no candidates are left before `next` or, if it is null, at all. */
    end: (next: SearchPosition | null = null): FoundContacts => addBefore() ?? { contacts: page.contacts, next },
  };
};
export type SearchPage = ReturnType<typeof createSearchPage>;
