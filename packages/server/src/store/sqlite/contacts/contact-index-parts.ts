/** Reads the contact index (rules/contact-search.ts), and the contacts that are stale in it. */
import {
  contactsPerScan,
  firstOf,
  type IndexPart,
  type KeyRange,
  maxCollected,
  maxStaleContacts,
  partBefore,
  restOf,
  type SortKey,
  type Source,
} from '../../rules/contact-search.ts';
import type { SearchPosition } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactFinder } from './contact-finder.ts';

/** An open range of the index, as statement parameters. */
export interface Range {
  readonly afterKey: number;
  readonly afterContact: number;
  readonly beforeKey: number;
  readonly beforeContact: number;
}
interface Part extends Range {
  readonly account: number;
  readonly term: number | null;
  readonly most: number;
}
/** Parameters for reading a part in page order: the page's range in addition to the part's. */
interface SortedPart extends Part {
  readonly afterPlace: number;
  readonly afterThat: number;
  readonly beforePlace: number;
  readonly beforeThat: number;
}

type IndexName = 'term' | SortKey;
const tables: Record<IndexName, { readonly table: string; readonly key: string }> = {
  term: { table: 'contact_term p', key: 'createdTime' },
  created: { table: 'contact p', key: 'createdTime' },
  seen: { table: 'contact_found p', key: 'lastSeen' },
};
const keyColumns: Record<SortKey, string> = { created: 'createdTime', seen: 'lastSeen' };

export const toRangeParameters = ({ after, before }: KeyRange): Range => ({
  afterKey: after.key,
  afterContact: after.contact,
  beforeKey: before.key,
  beforeContact: before.contact,
});

/** SQL: whether a contact may be stale in the index, because it, or one merged into it, may have changed. */
export const isStale = (contact: string) => `(EXISTS (SELECT 1 FROM contact_changed d WHERE d.contact = ${contact})
  OR EXISTS (SELECT 1 FROM contact m WHERE m.mergedInto = ${contact}))`;

/** Reads parts of the index in the order of their key or, if few contacts match, sorted by the other key. */
export const createParts = (db: Connection) => {
  const within = (from: IndexName) => {
    const { table, key } = tables[from];
    const ofTerm = from === 'term' ? 'AND p.term = @term' : '';
    return {
      table,
      where: `WHERE p.account = @account ${ofTerm}
        AND (p.${key}, p.contact) > (@afterKey, @afterContact) AND (p.${key}, p.contact) < (@beforeKey, @beforeContact)`,
    };
  };
  const prepareRead = (from: IndexName, order: 'ASC' | 'DESC') => {
    const { table, where } = within(from);
    const { key } = tables[from];
    return db.prepare<Part, SearchPosition>(
      `SELECT p.${key} AS key, p.contact FROM ${table} ${where} ORDER BY p.${key} ${order}, p.contact ${order} LIMIT @most`,
    );
  };
  const prepareSort = (from: IndexName, by: SortKey, order: 'ASC' | 'DESC') => {
    const { table, where } = within(from);
    const key = keyColumns[by];
    return db.prepare<SortedPart, SearchPosition>(`
      SELECT f.${key} AS key, f.contact FROM ${table} CROSS JOIN contact_found f ON f.contact = p.contact ${where}
      AND (f.${key}, f.contact) > (@afterPlace, @afterThat) AND (f.${key}, f.contact) < (@beforePlace, @beforeThat)
      ORDER BY f.${key} ${order}, f.contact ${order} LIMIT @most`);
  };
  const prepareCount = (from: IndexName) => {
    const { table, where } = within(from);
    return db.prepare<Part, number>(`SELECT count(*) FROM (SELECT 1 FROM ${table} ${where} LIMIT @most)`).pluck();
  };
  const statementsFor = (from: IndexName, other: SortKey) => ({
    ascending: prepareRead(from, 'ASC'),
    descending: prepareRead(from, 'DESC'),
    sortedAscending: prepareSort(from, other, 'ASC'),
    sortedDescending: prepareSort(from, other, 'DESC'),
    count: prepareCount(from),
  });
  const statements = {
    term: statementsFor('term', 'seen'),
    created: statementsFor('created', 'seen'),
    seen: statementsFor('seen', 'created'),
  };
  const statementsOf = ({ terms, key }: IndexPart) => statements[terms === null ? key : 'term'];

  return {
    /** Reads contacts of a source within a range, in page order. */
    read(
      account: number,
      { part, inOrder }: Source,
      range: KeyRange,
      descending: boolean,
      most: number,
    ): SearchPosition[] {
      const { ascending, sortedAscending, sortedDescending, ...others } = statementsOf(part);
      const readTerm = (term: number | null): SearchPosition[] => {
        if (inOrder) {
          return (descending ? others.descending : ascending).all({ account, term, most, ...toRangeParameters(range) });
        }
        return (descending ? sortedDescending : sortedAscending).all({
          account,
          term,
          most,
          ...toRangeParameters(part.range),
          afterPlace: range.after.key,
          afterThat: range.after.contact,
          beforePlace: range.before.key,
          beforeThat: range.before.contact,
        });
      };
      return firstOf((part.terms ?? [null]).map(readTerm), descending, most);
    },
    /**
     * Returns the size of a part, capped at `maxCollected` + 1. Counts contacts with several of its terms repeatedly.
     */
    sizeOf: (account: number, part: IndexPart): number => {
      const { count } = statementsOf(part);
      const most = maxCollected + 1;
      const sizeOfTerm = (term: number | null) =>
        count.get({ account, term, most, ...toRangeParameters(part.range) }) as number;
      return Math.min(
        most,
        (part.terms ?? [null]).reduce((sum: number, term) => sum + sizeOfTerm(term), 0),
      );
    },
  };
};

/** Reads the stale contacts, in creation order. */
export const createStaleContacts = (db: Connection, contacts: ContactFinder) => {
  const count = db
    .prepare<[], number>(`SELECT count(*) FROM (SELECT 1 FROM contact_changed LIMIT ${maxStaleContacts + 1})`)
    .pluck();
  const changed = db
    .prepare<[number], [contact: number, mergedInto: number | null]>(`
      SELECT c.contact, c.mergedInto FROM contact_changed d CROSS JOIN contact c ON c.contact = d.contact
      WHERE c.account = ? AND c.mergedInto IS NOT c.contact`)
    .raw();
  const statementsFor = (order: 'ASC' | 'DESC') => {
    const inRange = `FROM contact c WHERE account = @account
      AND (createdTime, contact) > (@afterKey, @afterContact) AND (createdTime, contact) < (@beforeKey, @beforeContact)`;
    return {
      place: db.prepare<Range & { account: number }, SearchPosition>(
        `SELECT createdTime AS key, contact ${inRange} ORDER BY createdTime ${order}, contact ${order} LIMIT 1 OFFSET ${contactsPerScan - 1}`,
      ),
      stale: db.prepare<Range & { account: number }, SearchPosition>(
        `SELECT createdTime AS key, contact ${inRange} AND ${isStale('c.contact')} ORDER BY createdTime ${order}, contact ${order}`,
      ),
    };
  };
  const ascending = statementsFor('ASC');
  const descending = statementsFor('DESC');
  /**
   * Returns the account's changed contacts, after following merges; undefined if there are more than `maxStaleContacts`
   * in total.
   */
  const few = (account: number): number[] | undefined => {
    if ((count.get() as number) > maxStaleContacts) return undefined;
    const both = changed
      .all(account)
      .flatMap(([contact, mergedInto]) =>
        mergedInto === null ? [contact] : [contact, contacts.followMerges(contact).contact],
      );
    return [...new Set(both)];
  };
  return {
    few,
    /** Returns all stale contacts in a range. */
    within: (account: number, range: KeyRange): number[] =>
      ascending.stale.all({ account, ...toRangeParameters(range) }).map(({ contact }) => contact),
    /** Scans the first contacts in a range. `rest` is the remaining range; null after the last contact. */
    among(account: number, range: KeyRange, isDescending: boolean): { ends: SearchPosition[]; rest: KeyRange | null } {
      const { place, stale } = isDescending ? descending : ascending;
      const last = place.get({ account, ...toRangeParameters(range) });
      const end = last && { ...last, contact: last.contact + (isDescending ? -1 : 1) };
      const ends = stale.all({ account, ...toRangeParameters(end ? partBefore(range, end, isDescending) : range) });
      return { ends, rest: last ? restOf(range, last, isDescending) : null };
    },
  };
};
