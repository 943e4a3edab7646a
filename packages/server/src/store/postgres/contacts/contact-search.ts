/** Searches contacts, page by page, with the index of contacts (rules/contact-search.ts). */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { createContactMatcher, toFoundContact } from '../../rules/contact-presenter.ts';
import {
  type Asked,
  askedOf,
  candidatesPerStep,
  contactsPerScan,
  type Found,
  firstOf,
  type IndexPart,
  isCandidate,
  isInRange,
  type KeyRange,
  keyOf,
  maxCandidates,
  maxCollected,
  maxExamined,
  maxStaleContacts,
  needsSizes,
  partBefore,
  partsOf,
  resolveMergedFilters,
  restOf,
  type SortKey,
  type Source,
  sourceOf,
} from '../../rules/contact-search.ts';
import { createSearchPage, type Match, type SearchPage } from '../../rules/search-page.ts';
import type { ContactSearch, FoundContacts, SearchPosition } from '../../store.ts';
import { readNames } from '../accounts/catalogues.ts';
import type { AccountConnection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readAnsweringEach } from './contact-index.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';
import { lastSeenOf } from './last-seen.ts';

/** A contact may be listed as changed several times. */
const maxChanges = 4 * maxStaleContacts;

const tables: Record<'term' | SortKey, { readonly table: string; readonly key: string }> = {
  term: { table: 'contact_term WHERE account = $1 AND term = $7', key: '"createdTime"' },
  created: { table: 'contact WHERE account = $1', key: '"createdTime"' },
  seen: { table: 'contact_found WHERE account = $1', key: '"lastSeen"' },
};
/** A part with at most one term. */
type TermPart = Omit<IndexPart, 'terms'> & { readonly term: number | null };
const partsOfTerms = ({ terms, ...part }: IndexPart): TermPart[] =>
  (terms ?? [null]).map((term: number | null) => ({ ...part, term }));

const within = ({ term, key }: Pick<TermPart, 'term' | 'key'>) => {
  const { table, key: column } = tables[term === null ? key : 'term'];
  const place = `(${column}, contact)`;
  return {
    column,
    from: `FROM ${table} AND ${place} > ($2::bigint, $3::bigint) AND ${place} < ($4::bigint, $5::bigint)`,
  };
};
const valuesOf = (account: number, { term, range }: TermPart, limit: number) => {
  const { after, before } = range;
  const values = [account, after.key, after.contact, before.key, before.contact, limit];
  return term === null ? values : [...values, term];
};

/** Reads up to `limit` entries of a part of the index, in order. */
const readPart = (db: AccountConnection, account: number, part: TermPart, descending: boolean, limit: number) => {
  const { column, from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  return db.all<SearchPosition>(
    `SELECT ${column} AS key, contact ${from} ORDER BY ${column} ${order}, contact ${order} LIMIT $6::integer`,
    valuesOf(account, part, limit),
  );
};

/** Returns the size of a part, up to `maxCollected` + 1. Counts a contact for each of its terms. */
const sizeOf = async (db: AccountConnection, account: number, part: IndexPart): Promise<number> => {
  const counted = await Promise.all(
    partsOfTerms(part).map((each) => {
      const sql = `SELECT count(*) AS count FROM (SELECT ${within(each).from} LIMIT $6::integer) AS counted`;
      return db.one<{ count: number }>(sql, valuesOf(account, each, maxCollected + 1));
    }),
  );
  return Math.min(
    maxCollected + 1,
    counted.reduce((sum, { count }) => sum + count, 0),
  );
};

/** Reads the contacts of a part within a range of the page's order, sorted by that order. */
const readSorted = (
  db: AccountConnection,
  { account, part, range, sort, descending, limit }: ReadRequest & { readonly part: TermPart },
) => {
  const { from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  const column = tables[sort].key;
  const values = valuesOf(account, part, limit);
  const place = values.length;
  // OFFSET 0 prevents a scan of all of contact_found for some thousand contacts.
  return db.all<SearchPosition>(
    `SELECT f.key, f.contact FROM (SELECT contact ${from}) AS p, LATERAL (
       SELECT ${column} AS key, contact FROM contact_found WHERE account = $1 AND contact = p.contact OFFSET 0
     ) AS f
     WHERE (f.key, f.contact) > ($${place + 1}::bigint, $${place + 2}::bigint)
       AND (f.key, f.contact) < ($${place + 3}::bigint, $${place + 4}::bigint)
     ORDER BY f.key ${order}, f.contact ${order} LIMIT $6::integer`,
    [...values, range.after.key, range.after.contact, range.before.key, range.before.contact],
  );
};

interface ReadRequest {
  readonly account: number;
  readonly range: KeyRange;
  readonly sort: SortKey;
  readonly descending: boolean;
  readonly limit: number;
}

/** Reads up to `limit` contacts of a source within a range of the page's order, in that order. */
const readSource = async (
  db: AccountConnection,
  { part, inOrder }: Source,
  request: ReadRequest,
): Promise<SearchPosition[]> => {
  const { account, range, descending, limit } = request;
  const lists = await Promise.all(
    partsOfTerms(part).map((each) =>
      inOrder
        ? readPart(db, account, { ...each, range }, descending, limit)
        : readSorted(db, { ...request, part: each }),
    ),
  );
  return firstOf(lists, descending, limit);
};

/**
 * Returns an SQL condition that a contact may differ from the index, because it or one merged into it may have changed.
 * OFFSET 0 keeps the planner from hashing either table, which may have all contacts.
 */
export const isStale = (contact: string) => `(
  EXISTS (SELECT 1 FROM contact_changed d WHERE d.account = $1 AND d.contact = ${contact} OFFSET 0)
  OR EXISTS (SELECT 1 FROM merged_contact m WHERE m.account = $1 AND m.contact = ${contact} OFFSET 0))`;

/** Returns the contacts that may differ from the index; undefined if there are many. */
export const readStaleContacts = async (db: AccountConnection): Promise<number[] | undefined> => {
  const changes = await db.all<{ contact: number }>(
    `SELECT contact FROM contact_changed WHERE account = $1 LIMIT ${maxChanges + 1}`,
    [db.account],
  );
  if (changes.length > maxChanges) return undefined;
  const changed = [...new Set(changes.map(({ contact }) => contact))];
  const answering = await readAnsweringEach(db, changed);
  return [...new Set([...changed, ...answering.map(({ contact }) => contact)])];
};

/**
 * Returns the contacts at the start of a range that may differ from the index, and the `rest` of the range, null at the
 * end.
 */
const readStaleInRange = async (
  db: AccountConnection,
  account: number,
  range: KeyRange,
  descending: boolean,
): Promise<{ ends: SearchPosition[]; rest: KeyRange | null }> => {
  const part = { term: null, key: 'created' as const };
  const { from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  const ordered = `SELECT "createdTime" AS key, contact ${from}`;
  const by = `ORDER BY "createdTime" ${order}, contact ${order}`;
  const [last] = await db.all<SearchPosition>(
    `${ordered} ${by} LIMIT 1 OFFSET $6::integer`,
    valuesOf(account, { ...part, range }, contactsPerScan - 1),
  );
  const end = last && { ...last, contact: last.contact + (descending ? -1 : 1) };
  const ends = await db.all<SearchPosition>(
    `${ordered} AND ${isStale('contact.contact')} ${by} LIMIT $6::integer`,
    valuesOf(account, { ...part, range: end ? partBefore(range, end, descending) : range }, contactsPerScan),
  );
  return { ends, rest: last ? restOf(range, last, descending) : null };
};

/**
 * Creates a function that filters contacts by a search. Its `indexed` are current index entries of contacts.
 */
const createExamine = async (db: AccountConnection, search: ContactSearch, plan: Asked, merges: ContactMerges) => {
  const isMatch = createContactMatcher(resolveMergedFilters(search, merges));
  const nameOf = await readNames(db, search.account);
  return async (rows: readonly ContactRow[], indexed: ReadonlyMap<number, Found> = new Map()): Promise<Match[]> => {
    if (rows.length === 0) return [];
    const groups = await rowsOf(db, rows);
    const unindexed = groups.filter(([row]) => !indexed.has((row as ContactRow).contact));
    const [views, days] = await Promise.all([viewsOf(db, groups, merges), lastSeenOf(db, unindexed)]);
    const lastSeen = new Map(unindexed.map(([row], nth) => [(row as ContactRow).contact, days[nth] as number]));
    return rows.flatMap((row, nth) => {
      const { contact, createdTime } = row;
      const day = indexed.get(contact)?.lastSeen ?? (lastSeen.get(contact) as number);
      const view = views[nth] as ContactView;
      if (!isInRange(plan, { contact, createdTime, lastSeen: day }) || !isMatch(row, view)) return [];
      const end = { key: keyOf(plan.sort, { createdTime, lastSeen: day }), contact };
      return [{ end, contact: toFoundContact(row, view, day, nameOf) }];
    });
  };
};

export const createContactSearch = (contacts: ContactFinder) => {
  /** Returns the contact that has the keys of a search, as one page. */
  const byKeys = async (
    db: AccountConnection,
    search: ContactSearch,
    merges: ContactMerges,
  ): Promise<FoundContacts> => {
    const { externalID, address } = search;
    const rows = await Promise.all([
      ...(externalID === undefined ? [] : [contacts.byExternalID(db, externalID)]),
      ...(address === undefined ? [] : [contacts.byAddress(db, address)]),
    ]);
    const [first, ...others] = await Promise.all(rows.map((row) => row && contacts.answering(db, row)));
    const isSame = others.every((other) => other?.contact === first?.contact);
    const examine = await createExamine(db, search, askedOf(search, merges), merges);
    const matches = first && isSame ? await examine([first]) : [];
    return { contacts: matches.map(({ contact }) => contact), next: null };
  };

  /**
   * Adds matching contacts that may differ from the index to the page. Returns where the page must end, if many were
   * examined.
   */
  const examineStale = async (
    db: Snapshot,
    { account, limit }: ContactSearch,
    { plan, page, examine }: { plan: Asked; page: SearchPage; examine: Awaited<ReturnType<typeof createExamine>> },
  ): Promise<SearchPosition | undefined> => {
    const [few, settled] = await Promise.all([readStaleContacts(db), db.settled]);
    const isInOrder = plan.sort === 'created' && !few;
    let rest: KeyRange | null = isInOrder ? plan.range : plan.created;
    for (let examined = 0; rest; ) {
      const some: Awaited<ReturnType<typeof readStaleInRange>> = few
        ? { ends: few.map((contact) => ({ key: 0, contact })), rest: null }
        : await readStaleInRange(db, account, rest, isInOrder && plan.descending);
      for (let from = 0; from < some.ends.length; from += candidatesPerStep) {
        const ends = some.ends.slice(from, from + candidatesPerStep);
        const numbers = ends.map(({ contact }) => contact).filter((contact) => contact <= settled);
        const rows = await readContacts(db, numbers);
        for (const match of await examine(rows.filter((row) => row.account === account && row.mergedInto === null))) {
          page.wait(match);
        }
        examined += ends.length;
        // Later contacts come after the page.
        if (isInOrder && page.waiting() > limit) return undefined;
        if (isInOrder && page.waiting() > 0 && examined >= maxExamined) return ends.at(-1);
      }
      rest = some.rest;
    }
    return undefined;
  };

  /** For a search without a key, `db` must be at 'all contacts settled', so that pages miss none. */
  return async (db: Snapshot, search: ContactSearch): Promise<FoundContacts> => {
    const { account, externalID, address, limit } = search;
    const merges = await runOperation(db, readEntryMerges(account));
    if (externalID !== undefined || address !== undefined) return byKeys(db, search, merges);
    const plan = askedOf(search, merges);
    if (search.contacts) {
      const rows = await readContacts(db, search.contacts);
      const examine = await createExamine(db, search, plan, merges);
      const matches = await examine(rows.filter(({ mergedInto }) => mergedInto === null));
      return { contacts: matches.map(({ contact }) => contact), next: null };
    }
    const { sort, descending } = plan;
    const parts = partsOf(plan);
    const [examine, sizes, settled] = await Promise.all([
      createExamine(db, search, plan, merges),
      needsSizes(plan, parts) ? Promise.all(parts.map((part) => sizeOf(db, account, part))) : [],
      db.settled,
    ]);
    const page = createSearchPage(search);
    // Before the index is read, so that contacts indexed meanwhile are found there.
    const end = await examineStale(db, search, { plan, page, examine });
    const source = sourceOf(plan, parts, sizes);

    /** Returns the matching candidates, by contact. If the index may be stale, the contact's view decides. */
    const examineCandidates = async (ends: readonly SearchPosition[]): Promise<Map<number, Match>> => {
      const numbers = ends.map(({ contact }) => contact).filter((contact) => contact <= settled);
      const indexed = await db.all<Found>(
        `SELECT contact, "createdTime", "lastSeen", to_jsonb(terms) AS terms FROM contact_found
         WHERE account = $1 AND contact = ANY ($2::bigint[]) AND NOT ${isStale('contact_found.contact')}`,
        [db.account, numbers],
      );
      const current = new Map(indexed.map((each) => [each.contact, each]));
      const candidates = numbers.filter((contact) => {
        const entry = current.get(contact);
        return entry === undefined || isCandidate(plan, entry);
      });
      const rows = await readContacts(db, candidates);
      const matches = await examine(
        rows.filter(({ mergedInto }) => mergedInto === null),
        current,
      );
      return new Map(matches.map((match) => [match.end.contact, match]));
    };

    let range = end ? partBefore(plan.range, end, descending) : plan.range;
    let count = Math.min(candidatesPerStep, limit + 1);
    for (let examined = 0; ; ) {
      const ends = await readSource(db, source, { account, range, sort, descending, limit: count });
      const matches = await examineCandidates(ends);
      for (const end of ends) {
        const match = matches.get(end.contact);
        // A contact whose key has changed has moved, and is added in its new place.
        const full = page.pass(end, match?.end.key === end.key ? match : undefined);
        if (full) return full;
      }
      examined += ends.length;
      const last = ends.at(-1);
      if (last === undefined || ends.length < count) return page.end(end);
      if (examined >= maxExamined && !page.isEmpty()) return page.endAt(last);
      range = restOf(range, last, descending);
      count = Math.min(2 * count, maxCandidates);
    }
  };
};
