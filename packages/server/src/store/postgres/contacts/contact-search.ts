/** Searches contacts, page by page, by the index of contacts (rules/contact-search.ts says how). */
import type { ContactView } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import { createContactMatcher, toFoundContact } from '../../rules/contact-presenter.ts';
import {
  type Asked,
  askedOf,
  candidatesPerStep,
  type Found,
  firstOf,
  type IndexPart,
  isCandidate,
  isInRange,
  type KeyRange,
  keyOf,
  maxCandidates,
  maxChanged,
  maxCollected,
  maxExamined,
  needsSizes,
  partBefore,
  partsOf,
  restOf,
  type SortKey,
  type Source,
  scannedAtOnce,
  searchAsKept,
  sourceOf,
} from '../../rules/contact-search.ts';
import { createSearchPage, type Match, type SearchPage } from '../../rules/search-page.ts';
import type { ContactSearch, FoundContacts, SearchEnd } from '../../store.ts';
import { readMerges, readNames } from '../accounts/catalogues.ts';
import type { AccountConnection } from '../database/connection.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readAnsweringEach } from './contact-index.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';
import { lastSeenOf } from './last-seen.ts';

/** A contact may be listed as changed several times. */
const maxChanges = 4 * maxChanged;

const tables: Record<'term' | SortKey, { readonly table: string; readonly key: string }> = {
  term: { table: 'contact_term WHERE account = $1 AND term = $7', key: '"createdTime"' },
  created: { table: 'contact WHERE account = $1', key: '"createdTime"' },
  seen: { table: 'contact_found WHERE account = $1', key: '"lastSeen"' },
};
/** A part with one term at most. */
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
const valuesOf = (account: number, { term, range }: TermPart, most: number) => {
  const { after, before } = range;
  const values = [account, after.key, after.contact, before.key, before.contact, most];
  return term === null ? values : [...values, term];
};

/** Reads some of a part of the index, in order. */
const readPart = (db: AccountConnection, account: number, part: TermPart, descending: boolean, most: number) => {
  const { column, from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  return db.all<SearchEnd>(
    `SELECT ${column} AS key, contact ${from} ORDER BY ${column} ${order}, contact ${order} LIMIT $6::integer`,
    valuesOf(account, part, most),
  );
};

/** Up to `maxCollected` + 1; more where contacts have several of its terms. */
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
  { account, part, range, sort, descending, most }: ReadRequest & { readonly part: TermPart },
) => {
  const { from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  const column = tables[sort].key;
  const values = valuesOf(account, part, most);
  const place = values.length;
  // OFFSET 0: the planner must not read all of contact_found for some thousand contacts.
  return db.all<SearchEnd>(
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
  readonly most: number;
}
/** Reads some contacts of a source within a range of the page's order, in that order. */
const readSource = async (
  db: AccountConnection,
  { part, inOrder }: Source,
  request: ReadRequest,
): Promise<SearchEnd[]> => {
  const { account, range, descending, most } = request;
  const lists = await Promise.all(
    partsOfTerms(part).map((each) =>
      inOrder
        ? readPart(db, account, { ...each, range }, descending, most)
        : readSorted(db, { ...request, part: each }),
    ),
  );
  return firstOf(lists, descending, most);
};

/**
 * Whether a contact may differ from what the index says: it or one that is merged into it may have changed. OFFSET 0: the planner must
 * not hash either table, which may hold all contacts.
 */
export const isUnsure = (contact: string) => `(
  EXISTS (SELECT 1 FROM contact_changed d WHERE d.account = $1 AND d.contact = ${contact} OFFSET 0)
  OR EXISTS (SELECT 1 FROM merged_contact m WHERE m.account = $1 AND m.contact = ${contact} OFFSET 0))`;

/** Returns the contacts that have changed since they were indexed, and those who answer for merged ones of these; undefined when they are many. */
export const readFewUnsure = async (db: AccountConnection): Promise<number[] | undefined> => {
  const changes = await db.all<{ contact: number }>(
    `SELECT contact FROM contact_changed WHERE account = $1 LIMIT ${maxChanges + 1}`,
    [db.account],
  );
  if (changes.length > maxChanges) return undefined;
  const changed = [...new Set(changes.map(({ contact }) => contact))];
  const answering = await readAnsweringEach(db, changed);
  return [...new Set([...changed, ...answering.map(({ contact }) => contact)])];
};

/** Returns the contacts among the first of a range that may differ from the index; `rest` is the range that remains, null after the last. */
const readUnsure = async (
  db: AccountConnection,
  account: number,
  range: KeyRange,
  descending: boolean,
): Promise<{ ends: SearchEnd[]; rest: KeyRange | null }> => {
  const part = { term: null, key: 'created' as const };
  const { from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  const ordered = `SELECT "createdTime" AS key, contact ${from}`;
  const by = `ORDER BY "createdTime" ${order}, contact ${order}`;
  const [last] = await db.all<SearchEnd>(
    `${ordered} ${by} LIMIT 1 OFFSET $6::integer`,
    valuesOf(account, { ...part, range }, scannedAtOnce - 1),
  );
  const end = last && { ...last, contact: last.contact + (descending ? -1 : 1) };
  const ends = await db.all<SearchEnd>(
    `${ordered} AND ${isUnsure('contact.contact')} ${by} LIMIT $6::integer`,
    valuesOf(account, { ...part, range: end ? partBefore(range, end, descending) : range }, scannedAtOnce),
  );
  return { ends, rest: last ? restOf(range, last, descending) : null };
};

/** Returns a function that returns those of some contacts that match, as a search does. `found`: what the index says of them. */
const createExamine = async (db: AccountConnection, search: ContactSearch, asked: Asked, merges: ContactMerges) => {
  const isWanted = createContactMatcher(searchAsKept(search, merges));
  const nameOf = await readNames(db, search.account);
  return async (rows: readonly ContactRow[], found: ReadonlyMap<number, Found> = new Map()): Promise<Match[]> => {
    if (rows.length === 0) return [];
    const groups = await rowsOf(db, rows);
    const unknown = groups.filter(([row]) => !found.has((row as ContactRow).contact));
    const [views, days] = await Promise.all([viewsOf(db, groups, merges), lastSeenOf(db, unknown)]);
    const lastSeen = new Map(unknown.map(([row], nth) => [(row as ContactRow).contact, days[nth] as number]));
    return rows.flatMap((row, nth) => {
      const { contact, createdTime } = row;
      const seen = found.get(contact)?.lastSeen ?? (lastSeen.get(contact) as number);
      const view = views[nth] as ContactView;
      if (!isInRange(asked, { contact, createdTime, lastSeen: seen }) || !isWanted(row, view)) return [];
      const end = { key: keyOf(asked.sort, { createdTime, lastSeen: seen }), contact };
      return [{ end, contact: toFoundContact(row, view, seen, nameOf) }];
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
    const found = await Promise.all([
      ...(externalID === undefined ? [] : [contacts.byExternalID(db, externalID)]),
      ...(address === undefined ? [] : [contacts.byAddress(db, address)]),
    ]);
    const [first, ...others] = await Promise.all(found.map((row) => row && contacts.answering(db, row)));
    const isOne = others.every((other) => other?.contact === first?.contact);
    const examine = await createExamine(db, search, askedOf(search, merges), merges);
    const matches = first && isOne ? await examine([first]) : [];
    return { contacts: matches.map(({ contact }) => contact), next: null };
  };

  /**
   * Adds the contacts to the page that may differ from what the index says. Returns the place at which the page is to end because
   * many were examined, or undefined.
   */
  const examineUnsure = async (
    db: Snapshot,
    { account, limit }: ContactSearch,
    { asked, page, examine }: { asked: Asked; page: SearchPage; examine: Awaited<ReturnType<typeof createExamine>> },
  ): Promise<SearchEnd | undefined> => {
    const [few, settled] = await Promise.all([readFewUnsure(db), db.settled]);
    const isInOrder = asked.sort === 'created' && !few;
    let rest: KeyRange | null = isInOrder ? asked.range : asked.created;
    for (let examined = 0; rest; ) {
      const some: Awaited<ReturnType<typeof readUnsure>> = few
        ? { ends: few.map((contact) => ({ key: 0, contact })), rest: null }
        : await readUnsure(db, account, rest, isInOrder && asked.descending);
      for (let from = 0; from < some.ends.length; from += candidatesPerStep) {
        const ends = some.ends.slice(from, from + candidatesPerStep);
        const numbers = ends.map(({ contact }) => contact).filter((contact) => contact <= settled);
        const rows = await readContacts(db, numbers);
        for (const match of await examine(rows.filter((row) => row.account === account && row.mergedInto === null))) {
          page.wait(match);
        }
        examined += ends.length;
        // Those that follow come after the page.
        if (isInOrder && page.waiting() > limit) return undefined;
        if (isInOrder && page.waiting() > 0 && examined >= maxExamined) return ends.at(-1);
      }
      rest = some.rest;
    }
    return undefined;
  };

  /** Without a key, `db` must have all contacts settled, so that pages miss none. */
  return async (db: Snapshot, search: ContactSearch): Promise<FoundContacts> => {
    const { account, externalID, address, limit } = search;
    const merges = await readMerges(db, account);
    if (externalID !== undefined || address !== undefined) return byKeys(db, search, merges);
    const asked = askedOf(search, merges);
    const { sort, descending } = asked;
    const parts = partsOf(asked);
    const [examine, sizes, settled] = await Promise.all([
      createExamine(db, search, asked, merges),
      needsSizes(asked, parts) ? Promise.all(parts.map((part) => sizeOf(db, account, part))) : [],
      db.settled,
    ]);
    const page = createSearchPage(search);
    // First, because those that are indexed meanwhile are then found by the index.
    const end = await examineUnsure(db, search, { asked, page, examine });
    const source = sourceOf(asked, parts, sizes);

    /** Returns those of some candidates that match, by contact. Of those that the index is not sure of, the view decides. */
    const examineCandidates = async (ends: readonly SearchEnd[]): Promise<Map<number, Match>> => {
      const numbers = ends.map(({ contact }) => contact).filter((contact) => contact <= settled);
      const indexed = await db.all<Found>(
        `SELECT contact, "createdTime", "lastSeen", to_jsonb(terms) AS terms FROM contact_found
         WHERE account = $1 AND contact = ANY ($2::bigint[]) AND NOT ${isUnsure('contact_found.contact')}`,
        [db.account, numbers],
      );
      const sure = new Map(indexed.map((each) => [each.contact, each]));
      const likely = numbers.filter((contact) => {
        const found = sure.get(contact);
        return found === undefined || isCandidate(asked, found);
      });
      const rows = await readContacts(db, likely);
      const matches = await examine(
        rows.filter(({ mergedInto }) => mergedInto === null),
        sure,
      );
      return new Map(matches.map((match) => [match.end.contact, match]));
    };

    let range = end ? partBefore(asked.range, end, descending) : asked.range;
    let most = Math.min(candidatesPerStep, limit + 1);
    for (let examined = 0; ; ) {
      const ends = await readSource(db, source, { account, range, sort, descending, most });
      const matches = await examineCandidates(ends);
      for (const end of ends) {
        const match = matches.get(end.contact);
        // One with another key has moved: it waits in its place.
        const full = page.pass(end, match?.end.key === end.key ? match : undefined);
        if (full) return full;
      }
      examined += ends.length;
      const last = ends.at(-1);
      if (last === undefined || ends.length < most) return page.end(end);
      if (examined >= maxExamined && !page.isEmpty()) return page.endAt(last);
      range = restOf(range, last, descending);
      most = Math.min(2 * most, maxCandidates);
    }
  };
};
