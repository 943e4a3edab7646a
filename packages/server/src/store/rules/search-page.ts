/** Collects the contacts of one page of a search: those that the index returns in order, and others that belong between them. */
import type { ContactSearch, FoundContact, FoundContacts, SearchEnd } from '../store.ts';
import { createFoundPage } from './contact-lists.ts';
import { byKey } from './contact-search.ts';

/** A contact that matches, and its place in the order. */
export interface Match {
  readonly end: SearchEnd;
  readonly contact: FoundContact;
}

/** `others` don't come from the index in order. */
export const createSearchPage = ({ limit, descending, beyond }: ContactSearch, others: readonly Match[]) => {
  const compare = descending ? (a: SearchEnd, b: SearchEnd) => byKey(b, a) : byKey;
  const page = createFoundPage(limit);
  const waiting = [...others].sort((a, b) => compare(a.end, b.end));
  /** How many of those that wait are on the page. */
  let passed = 0;
  let end = beyond;

  /** Adds a match. Returns the page when it is full already. */
  const add = (match: Match): FoundContacts | undefined => {
    if (page.isFull()) return { contacts: page.contacts, next: end as SearchEnd };
    page.add(match.contact);
    end = match.end;
    return undefined;
  };
  /** Adds the waiting matches before a place of the order. */
  const addBefore = (place?: SearchEnd): FoundContacts | undefined => {
    for (let next = waiting[passed]; next && (!place || compare(next.end, place) < 0); next = waiting[passed]) {
      const full = add(next);
      if (full) return full;
      passed += 1;
    }
    return undefined;
  };

  return {
    /** Notes a match that the index does not return in the order of the page. */
    wait: (match: Match): void => void waiting.push(match),
    /** Passes a place of the order, and adds the contact there if it matches. Returns the page when it is full. */
    pass: (place: SearchEnd, match: Match | undefined): FoundContacts | undefined =>
      addBefore(place) ?? (match && add(match)),
    isEmpty: (): boolean => page.contacts.length === 0,
    /** Ends the page at a place that was passed. */
    endAt: (next: SearchEnd): FoundContacts => ({ contacts: page.contacts, next }),
    /** Ends the page where no more candidates follow. */
    end(): FoundContacts {
      waiting.splice(passed, waiting.length, ...waiting.slice(passed).sort((a, b) => compare(a.end, b.end)));
      return addBefore() ?? { contacts: page.contacts, next: null };
    },
  };
};
