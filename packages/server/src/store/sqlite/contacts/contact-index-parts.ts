/** Statements that read the index of contacts (rules/contact-search.ts), and the contacts of which it is not sure. */
import {
  firstOf,
  type IndexPart,
  type KeyRange,
  maxChanged,
  maxCollected,
  partBefore,
  restOf,
  type SortKey,
  type Source,
  scannedAtOnce,
} from '../../rules/contact-search.ts';
import type { SearchEnd } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactFinder } from './contact-finder.ts';

/** A place after which, and one before which, a statement reads. */
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
/** A part that is sorted: the part of the order that the page is in, beside that of the filter. */
interface Sorted extends Part {
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

export const parametersOf = ({ after, before }: KeyRange): Range => ({
  afterKey: after.key,
  afterContact: after.contact,
  beforeKey: before.key,
  beforeContact: before.contact,
});

/** Whether a contact may differ from what the index says: it or one that is merged into it may have changed. */
export const isUnsure = (contact: string) => `(EXISTS (SELECT 1 FROM contact_changed d WHERE d.contact = ${contact})
  OR EXISTS (SELECT 1 FROM contact m WHERE m.mergedInto = ${contact}))`;

/** Reads parts of the index, each in the order of its key, or, where few match, sorted by the other. */
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
  const reading = (from: IndexName, order: 'ASC' | 'DESC') => {
    const { table, where } = within(from);
    const { key } = tables[from];
    return db.prepare<Part, SearchEnd>(
      `SELECT p.${key} AS key, p.contact FROM ${table} ${where} ORDER BY p.${key} ${order}, p.contact ${order} LIMIT @most`,
    );
  };
  const sorting = (from: IndexName, by: SortKey, order: 'ASC' | 'DESC') => {
    const { table, where } = within(from);
    const key = keyColumns[by];
    return db.prepare<Sorted, SearchEnd>(`
      SELECT f.${key} AS key, f.contact FROM ${table} CROSS JOIN contact_found f ON f.contact = p.contact ${where}
      AND (f.${key}, f.contact) > (@afterPlace, @afterThat) AND (f.${key}, f.contact) < (@beforePlace, @beforeThat)
      ORDER BY f.${key} ${order}, f.contact ${order} LIMIT @most`);
  };
  const counting = (from: IndexName) => {
    const { table, where } = within(from);
    return db.prepare<Part, number>(`SELECT count(*) FROM (SELECT 1 FROM ${table} ${where} LIMIT @most)`).pluck();
  };
  const statementsFor = (from: IndexName, other: SortKey) => ({
    ascending: reading(from, 'ASC'),
    descending: reading(from, 'DESC'),
    sortedAscending: sorting(from, other, 'ASC'),
    sortedDescending: sorting(from, other, 'DESC'),
    count: counting(from),
  });
  const statements = {
    term: statementsFor('term', 'seen'),
    created: statementsFor('created', 'seen'),
    seen: statementsFor('seen', 'created'),
  };
  const statementsOf = ({ terms, key }: IndexPart) => statements[terms === null ? key : 'term'];

  return {
    /** Reads some contacts of a source within a range of the page's order, in that order. */
    read(account: number, { part, inOrder }: Source, range: KeyRange, descending: boolean, most: number): SearchEnd[] {
      const { ascending, sortedAscending, sortedDescending, ...others } = statementsOf(part);
      const readTerm = (term: number | null): SearchEnd[] => {
        if (inOrder) {
          return (descending ? others.descending : ascending).all({ account, term, most, ...parametersOf(range) });
        }
        return (descending ? sortedDescending : sortedAscending).all({
          account,
          term,
          most,
          ...parametersOf(part.range),
          afterPlace: range.after.key,
          afterThat: range.after.contact,
          beforePlace: range.before.key,
          beforeThat: range.before.contact,
        });
      };
      return firstOf((part.terms ?? [null]).map(readTerm), descending, most);
    },
    /** The number of contacts of a part, up to `maxCollected` + 1; more where contacts have several of its terms. */
    sizeOf: (account: number, part: IndexPart): number => {
      const { count } = statementsOf(part);
      const most = maxCollected + 1;
      const sizeOfTerm = (term: number | null) =>
        count.get({ account, term, most, ...parametersOf(part.range) }) as number;
      return Math.min(
        most,
        (part.terms ?? [null]).reduce((sum: number, term) => sum + sizeOfTerm(term), 0),
      );
    },
  };
};

/** Reads the contacts that may differ from what the index says, in the order in which they were created. */
export const createUnsure = (db: Connection, contacts: ContactFinder) => {
  const count = db
    .prepare<[], number>(`SELECT count(*) FROM (SELECT 1 FROM contact_changed LIMIT ${maxChanged + 1})`)
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
      place: db.prepare<Range & { account: number }, SearchEnd>(
        `SELECT createdTime AS key, contact ${inRange} ORDER BY createdTime ${order}, contact ${order} LIMIT 1 OFFSET ${scannedAtOnce - 1}`,
      ),
      unsure: db.prepare<Range & { account: number }, SearchEnd>(
        `SELECT createdTime AS key, contact ${inRange} AND ${isUnsure('c.contact')} ORDER BY createdTime ${order}, contact ${order}`,
      ),
    };
  };
  const ascending = statementsFor('ASC');
  const descending = statementsFor('DESC');
  /** The contacts that have changed since they were indexed, and those who answer for merged ones of these; undefined when they are many. */
  const few = (account: number): number[] | undefined => {
    if ((count.get() as number) > maxChanged) return undefined;
    const both = changed
      .all(account)
      .flatMap(([contact, mergedInto]) =>
        mergedInto === null ? [contact] : [contact, contacts.answering(contact).contact],
      );
    return [...new Set(both)];
  };
  return {
    few,
    /** All those in a range. */
    within: (account: number, range: KeyRange): number[] =>
      ascending.unsure.all({ account, ...parametersOf(range) }).map(({ contact }) => contact),
    /** Those among the first contacts of a range; `rest` is the range that remains, null after the last contact. */
    among(account: number, range: KeyRange, isDescending: boolean): { ends: SearchEnd[]; rest: KeyRange | null } {
      const { place, unsure } = isDescending ? descending : ascending;
      const last = place.get({ account, ...parametersOf(range) });
      const end = last && { ...last, contact: last.contact + (isDescending ? -1 : 1) };
      const ends = unsure.all({ account, ...parametersOf(end ? partBefore(range, end, isDescending) : range) });
      return { ends, rest: last ? restOf(range, last, isDescending) : null };
    },
  };
};
