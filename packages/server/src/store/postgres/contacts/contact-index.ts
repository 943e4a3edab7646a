/**
 * Updates the contact index (rules/contact-search.ts): recomputes the terms of contacts that triggers have listed as
 * changed, and writes the differences. Only one server at a time does this (maintenance.ts).
 */
import { followMerges } from '../../../identity/merges.ts';
import { type Found, termsOfContact } from '../../rules/contact-search.ts';
import { bigints, texts } from '../database/arrays.ts';
import type { AccountConnection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { type ContactRow, pointersOf, readChains } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';
import { readLastSeen } from './last-seen.ts';

const changesPerStep = 500;

/** Returns the distinct contacts at the end of these contacts' merges, excluding erased contacts. */
export const readRemainingContacts = async (
  db: AccountConnection,
  contacts: readonly number[],
): Promise<ContactRow[]> => {
  const chains = await readChains(db, contacts);
  const follow = followMerges(pointersOf(chains));
  const answering = new Map(contacts.map((contact) => [follow(contact), chains.get(follow(contact))]));
  return [...answering.values()].filter((row) => row !== undefined);
};

interface TermRow {
  readonly term: number;
  readonly createdTime: number;
  readonly contact: number;
}
const columnsOf = (rows: readonly TermRow[]) => [
  bigints(rows, ({ term }) => term),
  bigints(rows, ({ createdTime }) => createdTime),
  bigints(rows, ({ contact }) => contact),
];
const termRowsSQL = 'unnest($2::bigint[], $3::bigint[], $4::bigint[])';

/** Indexes some of the changed contacts. Returns whether there may be more. */
export const indexContacts = async (db: Transaction): Promise<boolean> => {
  // Read as text, because on a cluster each worker numbers its changes in its own range, and the 32nd worker's range
  // starts at 2^53.
  const changes = await db.all<{ contact: number; change: string }>(
    `SELECT contact, c.change::text AS change FROM contact_changed c WHERE account = $1 ORDER BY contact, c.change LIMIT ${changesPerStep}`,
    [db.account],
  );
  if (changes.length === 0) return false;
  const changed = [...new Set(changes.map(({ contact }) => contact))];
  const rows = await readRemainingContacts(db, changed);
  const touched = [...new Set([...changed, ...rows.map(({ contact }) => contact)])];
  const before = await db.all<Found>(
    `SELECT contact, "createdTime", "lastSeen", to_jsonb(terms) AS terms FROM contact_found
     WHERE account = $1 AND contact = ANY ($2::bigint[])`,
    [db.account, touched],
  );
  const groups = await rowsOf(db, rows);
  const views = await viewsOf(db, groups);
  const lastSeen = await readLastSeen(db, groups);
  const after = rows.map((row, nth) => ({
    ...row,
    lastSeen: lastSeen[nth] as number,
    terms: termsOfContact(row, views[nth] as (typeof views)[number]),
  }));
  const toTerms = (all: readonly Found[]): TermRow[] =>
    all.flatMap(({ createdTime, contact, terms }) => terms.map((term) => ({ term, createdTime, contact })));
  const nameOf = ({ contact, term }: TermRow) => `${contact} ${term}`;
  const without = (all: readonly TermRow[], others: readonly TermRow[]): TermRow[] => {
    const names = new Set(others.map(nameOf));
    return all.filter((row) => !names.has(nameOf(row)));
  };
  const termsBefore = toTerms(before);
  const termsAfter = toTerms(after);
  const indexed = new Set(after.map(({ contact }) => contact));
  await Promise.all([
    db.run(
      `DELETE FROM contact_term t USING ${termRowsSQL} AS old (term, "createdTime", contact)
       WHERE t.account = $1 AND t.term = old.term AND t."createdTime" = old."createdTime" AND t.contact = old.contact`,
      [db.account, ...columnsOf(without(termsBefore, termsAfter))],
    ),
    db.run(
      `INSERT INTO contact_term (account, term, "createdTime", contact)
       SELECT p.account, new.* FROM account_position p, ${termRowsSQL} AS new WHERE p.account = $1 ON CONFLICT DO NOTHING`,
      [db.account, ...columnsOf(without(termsAfter, termsBefore))],
    ),
    db.run('DELETE FROM contact_found WHERE account = $1 AND contact = ANY ($2::bigint[])', [
      db.account,
      touched.filter((contact) => !indexed.has(contact)),
    ]),
    db.run(
      `INSERT INTO contact_found (account, contact, "createdTime", "lastSeen", terms)
       SELECT p.account, contact, "createdTime", "lastSeen", terms::bigint[]
       FROM account_position p, unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
         AS made (contact, "createdTime", "lastSeen", terms)
       WHERE p.account = $1
       ON CONFLICT (account, contact) DO UPDATE SET "lastSeen" = excluded."lastSeen", terms = excluded.terms`,
      [
        db.account,
        bigints(after, ({ contact }) => contact),
        bigints(after, ({ createdTime }) => createdTime),
        bigints(after, (found) => found.lastSeen),
        after.map(({ terms }) => `{${terms.join(',')}}`),
      ],
    ),
    db.run(
      `DELETE FROM contact_changed c USING unnest($2::bigint[], $3::text[]) AS done (contact, change)
       WHERE c.account = $1 AND c.contact = done.contact AND c.change = done.change::bigint`,
      [db.account, bigints(changes, ({ contact }) => contact), texts(changes, ({ change }) => change)],
    ),
  ]);
  return true;
};
