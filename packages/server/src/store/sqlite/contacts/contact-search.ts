/** Searches contacts, page by page, by the index of contacts (rules/contact-search.ts says how). */
import { cachedNames, createContactMatcher, type NameOf, toFoundContact } from '../../rules/contact-presenter.ts';
import {
  type Asked,
  askedOf,
  candidatesPerStep,
  type Found,
  type IndexPart,
  isCandidate,
  isInRange,
  type KeyRange,
  keyOf,
  mostChanged,
  mostExamined,
  mostGathered,
  needsSizes,
  partsOf,
  type SortKey,
  sourceOf,
} from '../../rules/contact-search.ts';
import { createSearchPage, type Match } from '../../rules/search-page.ts';
import type { ContactSearch, FoundContacts, SearchEnd } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createLastSeen } from './last-seen.ts';

interface Range {
  readonly account: number;
  readonly term: number | null;
  readonly afterKey: number;
  readonly afterContact: number;
  readonly beforeKey: number;
  readonly beforeContact: number;
  readonly most: number;
}

const tables: Record<'term' | SortKey, { readonly table: string; readonly key: string }> = {
  term: { table: 'contact_term WHERE account = @account AND term = @term', key: 'createdTime' },
  created: { table: 'contact WHERE account = @account', key: 'createdTime' },
  seen: { table: 'contact_found WHERE account = @account', key: 'lastSeen' },
};

export const createContactSearch = (db: Connection, namesOf: (account: number) => NameOf) => {
  const contacts = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const foundOf = db.prepare<[number], Omit<Found, 'terms'> & { terms: string }>(
    'SELECT contact, createdTime, lastSeen, terms FROM contact_found WHERE contact = ?',
  );
  const changed = db.prepare<[], number>(`SELECT contact FROM contact_changed LIMIT ${mostChanged + 1}`).pluck();

  const within = ({ table, key }: { table: string; key: string }) => `
    FROM ${table} AND (${key}, contact) > (@afterKey, @afterContact) AND (${key}, contact) < (@beforeKey, @beforeContact)`;
  const reading = (from: 'term' | SortKey, descending: boolean) => {
    const order = descending ? 'DESC' : 'ASC';
    const { key } = tables[from];
    return db.prepare<Range, SearchEnd>(
      `SELECT ${key} AS key, contact ${within(tables[from])} ORDER BY ${key} ${order}, contact ${order} LIMIT @most`,
    );
  };
  const counting = (from: 'term' | SortKey) =>
    db.prepare<Range, number>(`SELECT count(*) FROM (SELECT 1 ${within(tables[from])} LIMIT @most)`).pluck();
  const statementsFor = (from: 'term' | SortKey) => ({
    ascending: reading(from, false),
    descending: reading(from, true),
    count: counting(from),
  });
  const statements = { term: statementsFor('term'), created: statementsFor('created'), seen: statementsFor('seen') };

  const statementsOf = ({ term, key }: IndexPart) => statements[term === null ? key : 'term'];
  const parametersOf = (account: number, { term, range }: IndexPart, most: number): Range => ({
    account,
    term,
    afterKey: range.after.key,
    afterContact: range.after.contact,
    beforeKey: range.before.key,
    beforeContact: range.before.contact,
    most,
  });

  /** Reads some of a part of the index, in order. */
  const read = (account: number, part: IndexPart, descending: boolean, most: number): SearchEnd[] =>
    statementsOf(part)[descending ? 'descending' : 'ascending'].all(parametersOf(account, part, most));
  const sizeOf = (account: number, part: IndexPart): number =>
    statementsOf(part).count.get(parametersOf(account, part, mostGathered + 1)) as number;

  /** Returns the contact as a search does, if it matches; undefined otherwise. `found`: what the index says, if that is up to date. */
  const createExamine = (search: ContactSearch, asked: Asked) => {
    const isWanted = createContactMatcher(search);
    const nameOf = cachedNames(namesOf(search.account));
    return (row: ContactRow, found?: Found): Match | undefined => {
      const group = groupOf(row);
      const { contact, createdTime } = row;
      const lastSeen = found?.lastSeen ?? lastSeenOf(group);
      if (!isInRange(asked, { contact, createdTime, lastSeen })) return undefined;
      const view = viewOf(group);
      if (!isWanted(row, view)) return undefined;
      const end = { key: keyOf(asked.sort, { createdTime, lastSeen }), contact };
      return { end, contact: toFoundContact(row, view, lastSeen, nameOf) };
    };
  };

  const indexed = (contact: number): Found | undefined => {
    const found = foundOf.get(contact);
    return found && { ...found, terms: JSON.parse(found.terms) };
  };

  /** Those who answer for contacts that have changed since they were indexed, and the numbers of both. */
  const changedOf = (account: number, numbers: readonly number[]) => {
    const skipped = new Set(numbers);
    const rows = new Map<number, ContactRow>();
    for (const number of numbers) {
      const row = contacts.get(number);
      if (row === undefined || row.account !== account || row.mergedInto === number) continue;
      const answering = contacts.answering(number);
      skipped.add(answering.contact);
      rows.set(answering.contact, answering);
    }
    return { skipped, rows: [...rows.values()] };
  };

  /** Returns the contacts that answer to an address, as one page. */
  const byAddress = (search: ContactSearch, address: string): FoundContacts => {
    const found = contacts.byAddress(search.account, address);
    const examine = createExamine(search, askedOf(search));
    const match = found && examine(contacts.answering(found.contact));
    return { contacts: match ? [match.contact] : [], next: null };
  };

  return function* searchContact(search: ContactSearch): ChunkedRead<FoundContacts> {
    const { account, address, limit } = search;
    if (address !== undefined) return byAddress(search, address);
    const asked = askedOf(search);
    const { sort, descending } = asked;
    const examine = createExamine(search, asked);
    const numbers = changed.all();
    const isStale = numbers.length > mostChanged;
    const { skipped, rows } = isStale ? { skipped: new Set<number>(), rows: [] } : changedOf(account, numbers);
    const page = createSearchPage(
      search,
      rows.flatMap((row) => examine(row) ?? []),
    );
    const parts = partsOf(asked);
    const sizes = needsSizes(asked, parts) && !isStale ? parts.map((part) => sizeOf(account, part)) : [];
    // Without an index that is up to date, all contacts are examined, in the order in which they were created.
    const wholeRange: KeyRange = sort === 'created' ? asked.range : asked.created;
    const source = isStale
      ? { part: { term: null, key: 'created' as const, range: wholeRange }, inOrder: sort === 'created' }
      : sourceOf(asked, parts, sizes);

    const examineCandidate = (contact: number): Match | undefined => {
      if (skipped.has(contact)) return undefined;
      const found = isStale ? undefined : indexed(contact);
      if (found && !isCandidate(asked, found)) return undefined;
      const row = contacts.get(contact);
      // The index has no merged contacts, but the table has.
      return row === undefined || row.mergedInto !== null ? undefined : examine(row, found);
    };

    const { inOrder } = source;
    const most = inOrder ? Math.min(candidatesPerStep, limit + 1) : candidatesPerStep;
    let examined = 0;
    for (let { part } = source; ; ) {
      const ends = read(account, part, descending, most);
      for (const end of ends) {
        const match = examineCandidate(end.contact);
        const full = inOrder ? page.pass(end, match) : match && page.wait(match);
        if (full) return full;
      }
      examined += ends.length;
      const last = ends.at(-1);
      if (last === undefined || ends.length < most) return page.end();
      if (inOrder && examined >= mostExamined && !page.isEmpty()) return page.endAt(last);
      part = { ...part, range: descending ? { ...part.range, before: last } : { ...part.range, after: last } };
      yield;
    }
  };
};
