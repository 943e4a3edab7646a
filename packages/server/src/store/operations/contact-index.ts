/** Reads the contact index (rules/contact-search.ts), and the contacts whose index entries are stale. */
import {
  contactsPerScan,
  type Found,
  firstOf,
  type IndexPart,
  type KeyRange,
  maxCollected,
  partBefore,
  restOf,
  type SortKey,
  type Source,
} from '../rules/contact-search.ts';
import type { SearchPosition } from '../store.ts';
import { all, createQuery, type Dialect, first, type Operation, together } from './operation.ts';

type IndexName = 'term' | SortKey;
const tables: Record<IndexName, { readonly table: string; readonly key: string }> = {
  term: { table: 'contact_term', key: '"createdTime"' },
  created: { table: 'contact', key: '"createdTime"' },
  seen: { table: 'contact_found', key: '"lastSeen"' },
};

/**
 * SQL that checks whether a key and a contact are within a range. The range's four values start at the parameter
 * `from`.
 */
const isWithin = (key: string, contact: string, from: number) => {
  const [afterKey, after, beforeKey, before] = [0, 1, 2, 3].map((nth) => `CAST($${from + nth} AS bigint)`);
  const place = `(${key}, ${contact})`;
  return `${place} > (${afterKey}, ${after}) AND ${place} < (${beforeKey}, ${before})`;
};
const valuesOf = ({ after, before }: KeyRange) => [after.key, after.contact, before.key, before.contact];

/** SQL for account `$1`'s contacts within the range `$2` to `$5`. */
const within = (index: IndexName): string => {
  const { table, key } = tables[index];
  return `FROM ${table} p WHERE p.account = $1 AND ${isWithin(`p.${key}`, 'p.contact', 2)}`;
};
/** Like `within`, for the contacts with the term `$7`. */
const ofTerm = (index: IndexName) => `${within(index)} ${index === 'term' ? 'AND p.term = $7' : ''}`;

/**
 * SQL: whether a contact's index entry may be stale, because the contact, or one merged into it, may have changed.
 * OFFSET 0 keeps PostgreSQL from hashing these tables, each of which can contain all contacts.
 */
export const isStale = ({ name }: Pick<Dialect, 'name'>, contact: string): string =>
  name === 'sqlite'
    ? `(EXISTS (SELECT 1 FROM contact_changed d WHERE d.contact = ${contact})
        OR EXISTS (SELECT 1 FROM contact m WHERE m.mergedInto = ${contact}))`
    : `(EXISTS (SELECT 1 FROM contact_changed d WHERE d.account = $1 AND d.contact = ${contact} OFFSET 0)
        OR EXISTS (SELECT 1 FROM merged_contact m WHERE m.account = $1 AND m.contact = ${contact} OFFSET 0))`;

/** Selects the contacts in an index, in its order. */
const createRead = (index: IndexName, order: 'ASC' | 'DESC') => {
  const key = `p.${tables[index].key}`;
  return createQuery<SearchPosition>(
    () => `SELECT ${key} AS key, p.contact ${ofTerm(index)} ORDER BY ${key} ${order}, p.contact ${order} LIMIT $6`,
  );
};

/** Selects the contacts in an index that are also in a range of another key, sorted by that key. */
const createSort = (index: IndexName, order: 'ASC' | 'DESC') =>
  createQuery<SearchPosition>(({ name }) => {
    const key = `f.${tables[index === 'seen' ? 'created' : 'seen'].key}`;
    const range = isWithin(key, 'f.contact', index === 'term' ? 8 : 7);
    // OFFSET 0 keeps PostgreSQL from scanning the whole contact_found table for a few thousand contacts.
    const found =
      name === 'sqlite'
        ? 'contact_found AS f ON f.contact = p.contact'
        : 'LATERAL (SELECT * FROM contact_found WHERE account = $1 AND contact = p.contact OFFSET 0) AS f';
    return `
      SELECT ${key} AS key, f.contact FROM (SELECT p.contact ${ofTerm(index)}) AS p CROSS JOIN ${found}
      WHERE ${range} ORDER BY ${key} ${order}, f.contact ${order} LIMIT $6`;
  });

const createStatements = (index: IndexName) => ({
  ASC: { read: createRead(index, 'ASC'), sort: createSort(index, 'ASC') },
  DESC: { read: createRead(index, 'DESC'), sort: createSort(index, 'DESC') },
  count: createQuery<{ count: number }>(
    () => `SELECT count(*) AS count FROM (SELECT 1 ${ofTerm(index)} LIMIT $6) AS subquery`,
  ),
});
const statements = {
  term: createStatements('term'),
  created: createStatements('created'),
  seen: createStatements('seen'),
};
const statementsOf = ({ terms, key }: IndexPart) => statements[terms === null ? key : 'term'];
/** Returns the last parameter of a part's statements, once for each of its terms. */
const termsOf = ({ terms }: IndexPart): (readonly number[])[] => terms?.map((term) => [term]) ?? [[]];

/** A request for one of a source's pages. */
interface PartRequest {
  readonly account: number;
  readonly range: KeyRange;
  readonly descending: boolean;
  readonly limit: number;
}

/** Reads the contacts in a source that are within a range, in page order. */
export function* readSource(
  { part, inOrder }: Source,
  { account, range, descending, limit }: PartRequest,
): Operation<SearchPosition[]> {
  const { read, sort } = statementsOf(part)[descending ? 'DESC' : 'ASC'];
  const lists = yield* together<SearchPosition[][]>(
    ...termsOf(part).map((term) =>
      all(
        inOrder
          ? read(account, ...valuesOf(range), limit, ...term)
          : sort(account, ...valuesOf(part.range), limit, ...term, ...valuesOf(range)),
      ),
    ),
  );
  return firstOf(lists, descending, limit);
}

/** Returns a part's size, up to `maxCollected` + 1. Counts a contact once per matching term. */
export function* readSize(account: number, part: IndexPart): Operation<number> {
  const limit = maxCollected + 1;
  const { count } = statementsOf(part);
  const counted = yield* together<({ count: number } | undefined)[]>(
    ...termsOf(part).map((term) => first(count(account, ...valuesOf(part.range), limit, ...term))),
  );
  return Math.min(
    limit,
    counted.reduce((sum, row) => sum + (row?.count ?? 0), 0),
  );
}

const selectEntries = createQuery<Omit<Found, 'terms'> & { terms: string | readonly number[] }>((dialect) => {
  const isPostgres = dialect.name === 'postgres';
  return `
    SELECT f.contact, f."createdTime", f."lastSeen", ${isPostgres ? 'to_jsonb(f.terms) AS terms' : 'f.terms'}
    FROM contact_found f WHERE ${isPostgres ? 'f.account = $1 AND' : ''} f.contact ${dialect.among('$2', 'bigint')}
      AND NOT ${isStale(dialect, 'f.contact')}`;
});

/** Returns contacts' index entries, except stale ones. */
export function* readEntries(account: number, contacts: readonly number[]): Operation<Map<number, Found>> {
  const rows = yield* all(selectEntries(account, contacts));
  const parse = (terms: string | readonly number[]): readonly number[] =>
    typeof terms === 'string' ? JSON.parse(terms) : terms;
  return new Map(rows.map((row) => [row.contact, { ...row, terms: parse(row.terms) }]));
}

const createScan = (order: 'ASC' | 'DESC') => {
  const select = `SELECT p."createdTime" AS key, p.contact ${within('created')}`;
  const by = `ORDER BY p."createdTime" ${order}, p.contact ${order}`;
  return {
    last: createQuery<SearchPosition>(() => `${select} ${by} LIMIT 1 OFFSET ${contactsPerScan - 1}`),
    stale: createQuery<SearchPosition>((dialect) => `${select} AND ${isStale(dialect, 'p.contact')} ${by}`),
  };
};
const scans = { ASC: createScan('ASC'), DESC: createScan('DESC') };

/**
 * Scans the first contacts in a range for stale contacts. `rest` is the remaining range; null after the last contact.
 */
export function* readStaleInRange(
  account: number,
  range: KeyRange,
  descending: boolean,
): Operation<{ ends: readonly SearchPosition[]; rest: KeyRange | null }> {
  const select = scans[descending ? 'DESC' : 'ASC'];
  const last = yield* first(select.last(account, ...valuesOf(range)));
  const end = last && { ...last, contact: last.contact + (descending ? -1 : 1) };
  const ends = yield* all(select.stale(account, ...valuesOf(end ? partBefore(range, end, descending) : range)));
  return { ends, rest: last ? restOf(range, last, descending) : null };
}

const selectTimes = createQuery<Omit<Found, 'terms'>>(
  ({ name }) => `
    SELECT f.contact, f."createdTime", f."lastSeen"
    FROM (SELECT p.contact ${within('created')} ${name === 'postgres' ? 'OFFSET 0' : ''}) AS c
    CROSS JOIN contact_found f WHERE ${name === 'postgres' ? 'f.account = $1 AND' : ''} f.contact = c.contact`,
);

/** Returns the times of indexed contacts that were created within a range. */
export const readTimes = (account: number, range: KeyRange): Operation<Omit<Found, 'terms'>[]> =>
  all(selectTimes(account, ...valuesOf(range)));

const selectFew = createQuery<{ contact: number }>(({ name }) =>
  name === 'sqlite'
    ? `SELECT p.contact FROM json_each($6) AS few CROSS JOIN contact p
       WHERE p.contact = few.value AND p.account = $1 AND ${isWithin('p.createdTime', 'p.contact', 2)}`
    : `SELECT p.contact ${within('created')} AND p.contact = ANY ($6::bigint[])`,
);
const selectStale = createQuery<{ contact: number }>(
  (dialect) => `SELECT p.contact ${within('created')} AND ${isStale(dialect, 'p.contact')}`,
);

/**
 * Returns the stale contacts that were created within a range. `candidates` are all stale contacts; undefined if there
 * are many.
 */
export function* readStaleContactsIn(
  account: number,
  range: KeyRange,
  candidates?: readonly number[],
): Operation<number[]> {
  const rows = yield* all(
    candidates ? selectFew(account, ...valuesOf(range), candidates) : selectStale(account, ...valuesOf(range)),
  );
  return rows.map(({ contact }) => contact);
}
