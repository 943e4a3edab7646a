/** Searches contacts, page by page, by the index of contacts (rules/contact-search.ts says how). */
import type { ContactView } from '../../../identity/contact-view.ts';
import { createContactMatcher, toFoundContact } from '../../rules/contact-presenter.ts';
import {
  type Asked,
  askedOf,
  candidatesPerStep,
  type Found,
  type IndexPart,
  isCandidate,
  isInRange,
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
import { readNames } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readAnsweringEach } from './contact-index.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';
import { lastSeenOf } from './last-seen.ts';

const tables: Record<'term' | SortKey, { readonly table: string; readonly key: string }> = {
  term: { table: 'contact_term WHERE account = $1 AND term = $7', key: '"createdTime"' },
  created: { table: 'contact WHERE account = $1', key: '"createdTime"' },
  seen: { table: 'contact_found WHERE account = $1', key: '"lastSeen"' },
};
const within = ({ term, key }: IndexPart) => {
  const { table, key: column } = tables[term === null ? key : 'term'];
  const place = `(${column}, contact)`;
  return {
    column,
    from: `FROM ${table} AND ${place} > ($2::bigint, $3::bigint) AND ${place} < ($4::bigint, $5::bigint)`,
  };
};
const valuesOf = (account: number, { term, range }: IndexPart, most: number) => {
  const { after, before } = range;
  const values = [account, after.key, after.contact, before.key, before.contact, most];
  return term === null ? values : [...values, term];
};

/** Reads some of a part of the index, in order. */
const readPart = (db: Connection, account: number, part: IndexPart, descending: boolean, most: number) => {
  const { column, from } = within(part);
  const order = descending ? 'DESC' : 'ASC';
  return db.all<SearchEnd>(
    `SELECT ${column} AS key, contact ${from} ORDER BY ${column} ${order}, contact ${order} LIMIT $6::integer`,
    valuesOf(account, part, most),
  );
};

const sizeOf = async (db: Connection, account: number, part: IndexPart): Promise<number> => {
  const sql = `SELECT count(*) AS count FROM (SELECT ${within(part).from} LIMIT $6::integer) AS counted`;
  return (await db.one<{ count: number }>(sql, valuesOf(account, part, mostGathered + 1))).count;
};

/** Returns the contacts that have changed since they were indexed; undefined when they are too many. */
const readChanged = async (db: Connection): Promise<number[] | undefined> => {
  const rows = await db.all<{ contact: number }>(`SELECT contact FROM contact_changed LIMIT ${4 * mostChanged + 1}`);
  const changed = [...new Set(rows.map(({ contact }) => contact))];
  return rows.length > 4 * mostChanged || changed.length > mostChanged ? undefined : changed;
};

/** Returns a function that returns those of some contacts that match, as a search does. `found`: what the index says of them. */
const createExamine = async (db: Connection, search: ContactSearch, asked: Asked) => {
  const isWanted = createContactMatcher(search);
  const nameOf = await readNames(db, search.account);
  return async (rows: readonly ContactRow[], found: ReadonlyMap<number, Found> = new Map()): Promise<Match[]> => {
    if (rows.length === 0) return [];
    const groups = await rowsOf(db, rows);
    const unknown = groups.filter(([row]) => !found.has((row as ContactRow).contact));
    const [views, days] = await Promise.all([viewsOf(db, groups), lastSeenOf(db, unknown)]);
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
  /** Returns the contact that answers to an address, as one page. */
  const byAddress = async (db: Connection, search: ContactSearch, address: string): Promise<FoundContacts> => {
    const found = await contacts.byAddress(db, search.account, address);
    const examine = await createExamine(db, search, askedOf(search));
    const matches = found ? await examine([await contacts.answering(db, found)]) : [];
    return { contacts: matches.map(({ contact }) => contact), next: null };
  };

  /** Without an address, `db` must have all contacts settled, so that pages miss none. */
  return async (db: Snapshot, search: ContactSearch): Promise<FoundContacts> => {
    const { account, address, limit } = search;
    if (address !== undefined) return byAddress(db, search, address);
    const asked = askedOf(search);
    const { sort, descending } = asked;
    const parts = partsOf(asked);
    const [examine, changed, sizes, settled] = await Promise.all([
      createExamine(db, search, asked),
      readChanged(db),
      needsSizes(asked, parts) ? Promise.all(parts.map((part) => sizeOf(db, account, part))) : [],
      db.settled,
    ]);
    const isStale = changed === undefined;
    const isSettled = ({ contact }: { contact: number }) => contact <= settled;
    const answering = (await readAnsweringEach(db, changed ?? [])).filter((row) => row.account === account);
    const skipped = new Set([...(changed ?? []), ...answering.map(({ contact }) => contact)]);
    // Without an index that is up to date, all contacts are examined, in the order in which they were created.
    const source = isStale
      ? {
          part: { term: null, key: 'created' as const, range: sort === 'created' ? asked.range : asked.created },
          inOrder: sort === 'created',
        }
      : sourceOf(asked, parts, sizes);
    const page = createSearchPage(search, await examine(answering.filter(isSettled)));

    /** Returns those of some candidates that match, by contact. */
    const examineCandidates = async (ends: readonly SearchEnd[]): Promise<Map<number, Match>> => {
      const numbers = ends.filter(isSettled).flatMap(({ contact }) => (skipped.has(contact) ? [] : contact));
      const [rows, indexed] = await Promise.all([
        readContacts(db, numbers),
        isStale
          ? []
          : db.all<Found>(
              'SELECT contact, "createdTime", "lastSeen", to_jsonb(terms) AS terms FROM contact_found WHERE contact = ANY ($1::bigint[])',
              [numbers],
            ),
      ]);
      const found = new Map(indexed.map((each) => [each.contact, each]));
      const isLikely = (row: ContactRow) => {
        const known = found.get(row.contact);
        return row.mergedInto === null && (known === undefined || isCandidate(asked, known));
      };
      return new Map((await examine(rows.filter(isLikely), found)).map((match) => [match.end.contact, match]));
    };

    const { inOrder } = source;
    const most = inOrder ? Math.min(candidatesPerStep, limit + 1) : candidatesPerStep;
    let examined = 0;
    for (let { part } = source; ; ) {
      const ends = await readPart(db, account, part, descending, most);
      const matches = await examineCandidates(ends);
      for (const end of ends) {
        const match = matches.get(end.contact);
        const full = inOrder ? page.pass(end, match) : match && page.wait(match);
        if (full) return full;
      }
      examined += ends.length;
      const last = ends.at(-1);
      if (last === undefined || ends.length < most) return page.end();
      if (inOrder && examined >= mostExamined && !page.isEmpty()) return page.endAt(last);
      part = { ...part, range: descending ? { ...part.range, before: last } : { ...part.range, after: last } };
    }
  };
};
