/** Searches contacts page by page, using the contact index (rules/contact-search.ts). */
import type { ContactView } from '../../identity/contact-view.ts';
import type { ContactMerges } from '../../identity/merged-entries.ts';
import { createContactMatcher, toFoundContact } from '../rules/contact-presenter.ts';
import {
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
  planSearch,
  resolveMergedFilters,
  restOf,
  type SearchPlan,
  sourceOf,
} from '../rules/contact-search.ts';
import { createSearchPage, type Match, type SearchPage } from '../rules/search-page.ts';
import type { ContactSearch, FoundContacts, SearchPosition } from '../store.ts';
import { readEntryMerges } from './catalogues.ts';
import { readEntries, readSize, readSource, readStaleInRange } from './contact-index.ts';
import { type ContactReader, type ContactRow, type Result, readViews } from './contacts.ts';
import { call, type Operation, pause, together } from './operation.ts';

export interface ContactSearchReader<Row extends ContactRow> extends ContactReader<Row> {
  /** Returns the contacts that have the search's keys, after following merges. */
  readonly findByKeys: (search: ContactSearch) => Result<readonly (Row | undefined)[]>;
  /** Returns the account's stale contacts; undefined if there are many. */
  readonly readStale: () => Result<readonly number[] | undefined>;
  /** The number of candidates whose views are read together for a page of up to `limit` contacts. */
  readonly maxViews: (limit: number) => number;
}

/** Returns an operation that filters contacts by a search. `entries` are current index entries. */
function* createExaminer<Row extends ContactRow>(
  reader: ContactSearchReader<Row>,
  search: ContactSearch,
  plan: SearchPlan,
  merges: ContactMerges,
) {
  const isMatch = createContactMatcher(resolveMergedFilters(search, merges));
  const nameOf = yield* call(reader.readNames);
  const firstOf = (group: readonly Row[]) => group[0] as Row;

  return function* (
    rows: readonly Row[],
    entries: ReadonlyMap<number, Found> = new Map(),
  ): Operation<Map<number, Match>> {
    if (rows.length === 0) return new Map();
    const { groups, views } = yield* readViews(reader, rows, merges);
    const matching = groups.flatMap((group, nth) => {
      const view = views[nth] as ContactView;
      return isMatch(firstOf(group), view) ? [{ group, view }] : [];
    });
    const unindexed = matching.map(({ group }) => group).filter((group) => !entries.has(firstOf(group).contact));
    const days = unindexed.length > 0 ? yield* call(() => reader.readLastSeen(unindexed)) : [];
    const dayOf = new Map(unindexed.map((group, nth) => [firstOf(group).contact, days[nth] as number]));
    return new Map(
      matching.flatMap(({ group, view }) => {
        const row = firstOf(group);
        const { contact, createdTime } = row;
        const lastSeen = entries.get(contact)?.lastSeen ?? (dayOf.get(contact) as number);
        if (!isInRange(plan, { contact, createdTime, lastSeen })) return [];
        const end = { key: keyOf(plan.sort, { createdTime, lastSeen }), contact };
        return [[contact, { end, contact: toFoundContact(row, view, lastSeen, nameOf) }] as const];
      }),
    );
  };
}
type Examiner<Row> = (rows: readonly Row[], entries?: ReadonlyMap<number, Found>) => Operation<Map<number, Match>>;

/** Returns all matches as one page. */
const toPage = (matches: ReadonlyMap<number, Match>): FoundContacts => ({
  contacts: [...matches.values()].map(({ contact }) => contact),
  next: null,
});

/** Returns a page with the contact that has the search's keys, if it matches. */
function* findByKeys<Row extends ContactRow>(
  reader: ContactSearchReader<Row>,
  search: ContactSearch,
  merges: ContactMerges,
): Operation<FoundContacts> {
  const [first, ...others] = yield* call(() => reader.findByKeys(search));
  const isOne = others.every((other) => other?.contact === first?.contact);
  if (!first || !isOne) return { contacts: [], next: null };
  const examine = yield* createExaminer(reader, search, planSearch(search, merges), merges);
  return toPage(yield* examine([first]));
}

/**
 * Adds the matching stale contacts to the page. Returns the position where the page must end because many contacts were
 * examined; otherwise undefined.
 */
function* examineStale<Row extends ContactRow>(
  reader: ContactSearchReader<Row>,
  { account, limit }: ContactSearch,
  { plan, page, examine }: { readonly plan: SearchPlan; readonly page: SearchPage; readonly examine: Examiner<Row> },
): Operation<SearchPosition | undefined> {
  const few = yield* call(reader.readStale);
  const isInOrder = plan.sort === 'created' && !few;
  let rest: KeyRange | null = isInOrder ? plan.range : plan.created;
  for (let examined = 0; rest; ) {
    const range: KeyRange = rest;
    const stale: { ends: readonly SearchPosition[]; rest: KeyRange | null } = few
      ? { ends: few.map((contact) => ({ key: 0, contact })), rest: null }
      : yield* readStaleInRange(account, range, isInOrder && plan.descending);
    for (let from = 0; from < stale.ends.length; from += candidatesPerStep) {
      if (from > 0) yield pause;
      const ends = stale.ends.slice(from, from + candidatesPerStep);
      const rows = yield* call(() => reader.readRows(ends.map(({ contact }) => contact)));
      for (const match of (yield* examine(rows)).values()) page.wait(match);
      examined += ends.length;
      // Contacts that come later in the order are not on this page.
      if (isInOrder && page.waiting() > limit) return undefined;
      if (isInOrder && page.waiting() > 0 && examined >= maxExamined) return ends.at(-1);
    }
    rest = stale.rest;
    if (rest) yield pause;
  }
  return undefined;
}

export function* searchContact<Row extends ContactRow>(
  reader: ContactSearchReader<Row>,
  search: ContactSearch,
): Operation<FoundContacts> {
  const { account, externalID, address, contacts, limit } = search;
  const merges = yield* readEntryMerges(account);
  if (externalID !== undefined || address !== undefined) return yield* findByKeys(reader, search, merges);
  const plan = planSearch(search, merges);
  const { descending } = plan;
  const filters = partsOf(plan);
  const sized = !contacts && needsSizes(plan, filters) ? filters : [];
  const [examine, sizes] = yield* together(
    createExaminer(reader, search, plan, merges),
    together<number[]>(...sized.map((part) => readSize(account, part))),
  );
  if (contacts) return toPage(yield* examine(yield* call(() => reader.readRows(contacts))));
  const page = createSearchPage(search);
  // Examines stale contacts first: if a contact is indexed in the meantime, the index returns it instead.
  const end = yield* examineStale(reader, search, { plan, page, examine });
  const source = sourceOf(plan, filters, sizes);

  let range = end ? partBefore(plan.range, end, descending) : plan.range;
  let count = Math.min(candidatesPerStep, limit + 1);
  for (let examined = 0; ; ) {
    const ends = yield* readSource(source, { account, range, descending, limit: count });
    const current = yield* readEntries(
      account,
      ends.map(({ contact }) => contact),
    );
    // If the index may be stale, only the contact's view decides whether it matches.
    const isLikely = ({ contact }: SearchPosition) => {
      const entry = current.get(contact);
      return entry === undefined || isCandidate(plan, entry);
    };
    for (let from = 0; from < ends.length; ) {
      const likely: number[] = [];
      const start = from;
      for (; from < ends.length && likely.length < reader.maxViews(limit); from += 1) {
        const candidate = ends[from] as SearchPosition;
        if (isLikely(candidate)) likely.push(candidate.contact);
      }
      const matches = yield* examine(likely.length > 0 ? yield* call(() => reader.readRows(likely)) : [], current);
      for (const candidate of ends.slice(start, from)) {
        const match = matches.get(candidate.contact);
        // Does not add a contact whose key has changed: that contact is added at its new position.
        const full = page.pass(candidate, match?.end.key === candidate.key ? match : undefined);
        if (full) return full;
      }
    }
    examined += ends.length;
    const last = ends.at(-1);
    if (last === undefined || ends.length < count) return page.end(end);
    if (examined >= maxExamined && !page.isEmpty()) return page.endAt(last);
    range = restOf(range, last, descending);
    count = Math.min(2 * count, maxCandidates);
    yield pause;
  }
}
