/** Searches contacts page by page, using the contact index as described in rules/contact-search.ts. */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { createContactMatcher, toFoundContact } from '../../rules/contact-presenter.ts';
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
  resolveMergedFilters,
  restOf,
  sourceOf,
} from '../../rules/contact-search.ts';
import { createSearchPage, type Match, type SearchPage } from '../../rules/search-page.ts';
import type { ContactSearch, FoundContacts, SearchPosition } from '../../store.ts';
import { createNameReader } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createContactFinder } from './contact-finder.ts';
import { createParts, createStaleContacts, isStale } from './contact-index-parts.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createLastSeen } from './last-seen.ts';

export const createContactSearch = (db: Connection) => {
  const runOperation = createOperationRunner(db);
  const namesOf = createNameReader(db);
  const contacts = createContactFinder(db);
  const { groupsOf, viewsOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const parts = createParts(db);
  const staleContacts = createStaleContacts(db, contacts);
  const rowsOf = db.prepare<[string], ContactRow>(
    'SELECT c.* FROM json_each(?) given CROSS JOIN contact c ON c.contact = given.value',
  );
  const entriesOf = db
    .prepare<[string], [contact: number, createdTime: number, lastSeen: number, terms: string, isStale: 0 | 1]>(`
      SELECT f.contact, f.createdTime, f.lastSeen, f.terms, ${isStale('f.contact')}
      FROM json_each(?) given CROSS JOIN contact_found f ON f.contact = given.value`)
    .raw();

  /**
   * Returns a function that filters contacts by a search. `entries`: their current index entries, where known.
   */
  const createExaminer = (search: ContactSearch, plan: Asked, merges: ContactMerges) => {
    const isMatch = createContactMatcher(resolveMergedFilters(search, merges));
    const nameOf = namesOf(search.account);
    return (numbers: readonly number[], entries: ReadonlyMap<number, Found> = new Map()): Map<number, Match> => {
      const rows = rowsOf
        .all(JSON.stringify(numbers))
        .filter(({ account, mergedInto }) => account === search.account && mergedInto === null);
      const groups = groupsOf(rows);
      const views = viewsOf(groups, merges);
      const matches = new Map<number, Match>();
      for (const [nth, group] of groups.entries()) {
        const row = group[0] as ContactRow;
        const view = views[nth] as ContactView;
        if (!isMatch(row, view)) continue;
        const { contact, createdTime } = row;
        const lastSeen = entries.get(contact)?.lastSeen ?? lastSeenOf(group);
        if (!isInRange(plan, { contact, createdTime, lastSeen })) continue;
        const end = { key: keyOf(plan.sort, { createdTime, lastSeen }), contact };
        matches.set(contact, { end, contact: toFoundContact(row, view, lastSeen, nameOf) });
      }
      return matches;
    };
  };
  type Examiner = ReturnType<typeof createExaminer>;

  /** Reads index entries, and whether they may be stale. */
  const readEntries = (ends: readonly SearchPosition[]) =>
    new Map(
      entriesOf
        .all(JSON.stringify(ends.map(({ contact }) => contact)))
        .map(([contact, createdTime, lastSeen, terms, stale]) => [
          contact,
          { isCurrent: stale === 0, entry: { contact, createdTime, lastSeen, terms: JSON.parse(terms) } as Found },
        ]),
    );

  /** Returns a page with the contact that has the search's keys, if it matches. */
  const byKeys = (search: ContactSearch, merges: ContactMerges): FoundContacts => {
    const { account, externalID, address } = search;
    const rows = [
      ...(externalID === undefined ? [] : [contacts.byExternalID(account, externalID)]),
      ...(address === undefined ? [] : [contacts.byAddress(account, address)]),
    ];
    const [first, ...others] = rows.map((row) => row && contacts.followMerges(row.contact));
    const isOne = others.every((other) => other?.contact === first?.contact);
    const examine = createExaminer(search, askedOf(search, merges), merges);
    const matches = first && isOne ? examine([first.contact]) : new Map<number, Match>();
    return { contacts: [...matches.values()].map(({ contact }) => contact), next: null };
  };

  /**
   * Adds the stale contacts that match to the page. Returns the position where the page must end because many contacts
   * were examined; otherwise undefined.
   */
  const examineStale = function* (search: ContactSearch, plan: Asked, page: SearchPage, examine: Examiner) {
    const { account, limit } = search;
    const few = staleContacts.few(account);
    const isInOrder = plan.sort === 'created' && !few;
    let rest: KeyRange | null = isInOrder ? plan.range : plan.created;
    for (let examined = 0; rest; ) {
      const some: ReturnType<typeof staleContacts.among> = few
        ? { ends: few.map((contact) => ({ key: 0, contact })), rest: null }
        : staleContacts.among(account, rest, isInOrder && plan.descending);
      for (let from = 0; from < some.ends.length; from += candidatesPerStep) {
        if (from > 0) yield;
        const ends = some.ends.slice(from, from + candidatesPerStep);
        for (const match of examine(ends.map(({ contact }) => contact)).values()) page.wait(match);
        examined += ends.length;
        // Later contacts belong after this page.
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
    const merges = runOperation(readEntryMerges(account));
    if (externalID !== undefined || address !== undefined) return byKeys(search, merges);
    const plan = askedOf(search, merges);
    const { descending } = plan;
    const examine = createExaminer(search, plan, merges);
    if (search.contacts) {
      return { contacts: [...examine(search.contacts).values()].map(({ contact }) => contact), next: null };
    }
    const page = createSearchPage(search);
    // Stale contacts first: those that are indexed in the meantime are then found in the index.
    const end = yield* examineStale(search, plan, page, examine);
    const filters = partsOf(plan);
    const sizes = needsSizes(plan, filters) ? filters.map((part) => parts.sizeOf(account, part)) : [];
    const source = sourceOf(plan, filters, sizes);

    let range = end ? partBefore(plan.range, end, descending) : plan.range;
    let most = Math.min(candidatesPerStep, limit + 1);
    for (let examined = 0; ; ) {
      const ends = parts.read(account, source, range, descending, most);
      const entries = readEntries(ends);
      const current = new Map(
        [...entries].flatMap(([contact, { isCurrent, entry }]) => (isCurrent ? [[contact, entry]] : [])),
      );
      // Stale contacts are decided by their views.
      const isLikely = ({ contact }: SearchPosition) => {
        const entry = current.get(contact);
        return entry === undefined || isCandidate(plan, entry);
      };
      for (let from = 0; from < ends.length; ) {
        const likely: SearchPosition[] = [];
        const start = from;
        for (; from < ends.length && likely.length <= limit; from += 1) {
          const end = ends[from] as SearchPosition;
          if (isLikely(end)) likely.push(end);
        }
        const matches =
          likely.length > 0
            ? examine(
                likely.map(({ contact }) => contact),
                current,
              )
            : new Map<number, Match>();
        for (const end of ends.slice(start, from)) {
          const match = matches.get(end.contact);
          // A match with another key has moved. It waits for its new position.
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
