/** Searches contacts, page by page, by the index of contacts (rules/contact-search.ts says how). */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import { cachedNames, createContactMatcher, type NameOf, toFoundContact } from '../../rules/contact-presenter.ts';
import {
  type Asked,
  askedOf,
  candidatesPerStep,
  type Found,
  isCandidate,
  isInRange,
  type KeyRange,
  keyOf,
  maxCandidates,
  maxExamined,
  needsSizes,
  partBefore,
  partsOf,
  restOf,
  searchAsKept,
  sourceOf,
} from '../../rules/contact-search.ts';
import { createSearchPage, type Match, type SearchPage } from '../../rules/search-page.ts';
import type { ContactSearch, FoundContacts, SearchEnd } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createContactFinder } from './contact-finder.ts';
import { createParts, createUnsure, isUnsure } from './contact-index-parts.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createLastSeen } from './last-seen.ts';

export const createContactSearch = (
  db: Connection,
  namesOf: (account: number) => NameOf,
  mergesOf: (account: number) => ContactMerges,
) => {
  const contacts = createContactFinder(db);
  const { groupsOf, viewsOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const parts = createParts(db);
  const unsure = createUnsure(db, contacts);
  const rowsOf = db.prepare<[string], ContactRow>(
    'SELECT c.* FROM json_each(?) given CROSS JOIN contact c ON c.contact = given.value',
  );
  const foundOf = db
    .prepare<[string], [contact: number, createdTime: number, lastSeen: number, terms: string, isUnsure: 0 | 1]>(`
      SELECT f.contact, f.createdTime, f.lastSeen, f.terms, ${isUnsure('f.contact')}
      FROM json_each(?) given CROSS JOIN contact_found f ON f.contact = given.value`)
    .raw();

  /**
   * Returns a function that returns those of some contacts that match, as a search does. `found`: what the index says of them, for
   * those of which it is sure.
   */
  const createExamine = (search: ContactSearch, asked: Asked, merges: ContactMerges) => {
    const isWanted = createContactMatcher(searchAsKept(search, merges));
    const nameOf = cachedNames(namesOf(search.account));
    return (numbers: readonly number[], found: ReadonlyMap<number, Found> = new Map()): Map<number, Match> => {
      const rows = rowsOf
        .all(JSON.stringify(numbers))
        .filter(({ account, mergedInto }) => account === search.account && mergedInto === null);
      const groups = groupsOf(rows);
      const views = viewsOf(groups, merges);
      const matches = new Map<number, Match>();
      for (const [nth, group] of groups.entries()) {
        const row = group[0] as ContactRow;
        const view = views[nth] as ContactView;
        if (!isWanted(row, view)) continue;
        const { contact, createdTime } = row;
        const lastSeen = found.get(contact)?.lastSeen ?? lastSeenOf(group);
        if (!isInRange(asked, { contact, createdTime, lastSeen })) continue;
        const end = { key: keyOf(asked.sort, { createdTime, lastSeen }), contact };
        matches.set(contact, { end, contact: toFoundContact(row, view, lastSeen, nameOf) });
      }
      return matches;
    };
  };
  type Examine = ReturnType<typeof createExamine>;

  /** What the index says of some contacts, and whether that may differ from what they are now. */
  const indexed = (ends: readonly SearchEnd[]) =>
    new Map(
      foundOf
        .all(JSON.stringify(ends.map(({ contact }) => contact)))
        .map(([contact, createdTime, lastSeen, terms, differs]) => [
          contact,
          { isSure: differs === 0, found: { contact, createdTime, lastSeen, terms: JSON.parse(terms) } as Found },
        ]),
    );

  /** Returns the contact that has the keys of a search, as one page. */
  const byKeys = (search: ContactSearch, merges: ContactMerges): FoundContacts => {
    const { account, externalID, address } = search;
    const found = [
      ...(externalID === undefined ? [] : [contacts.byExternalID(account, externalID)]),
      ...(address === undefined ? [] : [contacts.byAddress(account, address)]),
    ];
    const [first, ...others] = found.map((row) => row && contacts.answering(row.contact));
    const isOne = others.every((other) => other?.contact === first?.contact);
    const examine = createExamine(search, askedOf(search, merges), merges);
    const matches = first && isOne ? examine([first.contact]) : new Map<number, Match>();
    return { contacts: [...matches.values()].map(({ contact }) => contact), next: null };
  };

  /**
   * Adds the contacts to the page that may differ from what the index says. Returns the place at which the page is to end because
   * many were examined, or undefined.
   */
  const examineUnsure = function* (search: ContactSearch, asked: Asked, page: SearchPage, examine: Examine) {
    const { account, limit } = search;
    const few = unsure.few(account);
    const isInOrder = asked.sort === 'created' && !few;
    let rest: KeyRange | null = isInOrder ? asked.range : asked.created;
    for (let examined = 0; rest; ) {
      const some: ReturnType<typeof unsure.among> = few
        ? { ends: few.map((contact) => ({ key: 0, contact })), rest: null }
        : unsure.among(account, rest, isInOrder && asked.descending);
      for (let from = 0; from < some.ends.length; from += candidatesPerStep) {
        if (from > 0) yield;
        const ends = some.ends.slice(from, from + candidatesPerStep);
        for (const match of examine(ends.map(({ contact }) => contact)).values()) page.wait(match);
        examined += ends.length;
        // Those that follow come after the page.
        if (isInOrder && page.waiting() > limit) return undefined;
        if (isInOrder && page.waiting() > 0 && examined >= maxExamined) return ends.at(-1);
      }
      rest = some.rest;
      if (rest) yield;
    }
    return undefined;
  };

  return function* searchContact(search: ContactSearch): ChunkedRead<FoundContacts> {
    const { account, externalID, address, limit } = search;
    const merges = mergesOf(account);
    if (externalID !== undefined || address !== undefined) return byKeys(search, merges);
    const asked = askedOf(search, merges);
    const { descending } = asked;
    const examine = createExamine(search, asked, merges);
    const page = createSearchPage(search);
    // First, because those that are indexed meanwhile are then found by the index.
    const end = yield* examineUnsure(search, asked, page, examine);
    const filters = partsOf(asked);
    const sizes = needsSizes(asked, filters) ? filters.map((part) => parts.sizeOf(account, part)) : [];
    const source = sourceOf(asked, filters, sizes);

    let range = end ? partBefore(asked.range, end, descending) : asked.range;
    let most = Math.min(candidatesPerStep, limit + 1);
    for (let examined = 0; ; ) {
      const ends = parts.read(account, source, range, descending, most);
      const known = indexed(ends);
      const sure = new Map([...known].flatMap(([contact, { isSure, found }]) => (isSure ? [[contact, found]] : [])));
      // Of contacts that are not sure, the view decides.
      const isLikely = ({ contact }: SearchEnd) => {
        const found = sure.get(contact);
        return found === undefined || isCandidate(asked, found);
      };
      for (let from = 0; from < ends.length; ) {
        const some: SearchEnd[] = [];
        const began = from;
        for (; from < ends.length && some.length <= limit; from += 1) {
          const end = ends[from] as SearchEnd;
          if (isLikely(end)) some.push(end);
        }
        const matches =
          some.length > 0
            ? examine(
                some.map(({ contact }) => contact),
                sure,
              )
            : new Map<number, Match>();
        for (const end of ends.slice(began, from)) {
          const match = matches.get(end.contact);
          // One with another key has moved: it waits in its place.
          const full = page.pass(end, match?.end.key === end.key ? match : undefined);
          if (full) return full;
        }
      }
      examined += ends.length;
      const last = ends.at(-1);
      if (last === undefined || ends.length < most) return page.end(end);
      if (examined >= maxExamined && !page.isEmpty()) return page.endAt(last);
      range = restOf(range, last, descending);
      most = Math.min(2 * most, maxCandidates);
      yield;
    }
  };
};
