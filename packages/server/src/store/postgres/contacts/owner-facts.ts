/**
 * Reads the contacts, users and statements that determine who owns a page's events, in as few steps as possible.
 *
 * Rows are found one by one with `CROSS JOIN LATERAL (… OFFSET 0)`. With `= ANY`, PostgreSQL's generic plan can read
 * all of an account's rows, because most accounts have few rows.
 */
import type { StatementWithClaim } from '../../rules/links.ts';
import type { AccountConnection } from '../database/connection.ts';
import { byNumber, type ContactRow } from './contact-rows.ts';
import { type ClaimMarks, type Facts, factColumns, toDecidingStatement } from './statements.ts';
import { numberOfUser, type UserRow, userColumns } from './users.ts';

/** A statement and the claimID of its claim. */
export type ClaimedStatement = StatementWithClaim & { readonly claimID: string | null };

/** Contacts and users, with all of the users' statements. */
export interface OwnerFacts {
  readonly contacts: readonly ContactRow[];
  readonly users: readonly UserRow[];
  /** By user, ascending by sequence; users without statements are absent. */
  readonly statements: ReadonlyMap<number, readonly ClaimedStatement[]>;
}
export const noFacts: OwnerFacts = { contacts: [], users: [], statements: new Map() };

/** Contact or user numbers, as SQL for a single column and the values of its parameters from $2 on. */
export interface NumberQuery {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export const numbersOf = (numbers: readonly number[]): NumberQuery => ({
  sql: 'SELECT unnest($2::bigint[])',
  values: [numbers],
});

const read = <Row>(db: AccountConnection, { sql, values }: NumberQuery, rows: string): Promise<Row[]> =>
  db.all<Row>(`SELECT one.* FROM (${sql}) AS each (number) CROSS JOIN LATERAL (${rows} OFFSET 0) AS one`, [
    db.account,
    ...values,
  ]);

const readContactsOf = async (db: AccountConnection, contacts: NumberQuery): Promise<ContactRow[]> => {
  const rows = await read<ContactRow>(
    db,
    contacts,
    'SELECT * FROM contact WHERE account = $1 AND contact = each.number',
  );
  return rows.sort(byNumber);
};

export const readUsers = (db: AccountConnection, users: NumberQuery): Promise<UserRow[]> =>
  read(db, users, `SELECT ${userColumns} FROM "user" WHERE account = $1 AND "user" = each.number`);

type Row = Facts & { readonly marks: ClaimMarks | null };

const readStatements = async (db: AccountConnection, users: NumberQuery): Promise<Map<number, ClaimedStatement[]>> => {
  const rows = await read<Row>(
    db,
    users,
    `SELECT ${factColumns}, CASE WHEN claim IS NOT NULL THEN (
         SELECT row_to_json(made) FROM (
           SELECT "claimID", accepted, voided FROM claim
           WHERE claim.account = $1 AND claim.contact = statement.contact AND claim.claim = statement.claim
         ) AS made
       ) END AS marks
     FROM statement WHERE account = $1 AND "user" = each.number`,
  );
  const lists = new Map<number, ClaimedStatement[]>();
  // Sorts in JavaScript for the reason given in event-order.ts.
  for (const { marks, ...row } of rows.sort((a, b) => a.sequence - b.sequence)) {
    const list = lists.get(row.user) ?? [];
    list.push({ ...toDecidingStatement(row, marks ?? undefined), claimID: marks?.claimID ?? null });
    lists.set(row.user, list);
  }
  return lists;
};

const readUsersAndStatements = async (
  db: AccountConnection,
  numbers: NumberQuery,
): Promise<Pick<OwnerFacts, 'users' | 'statements'>> => {
  const [users, statements] = await Promise.all([readUsers(db, numbers), readStatements(db, numbers)]);
  return { users, statements };
};

/** Reads users by number. */
export const readUserFacts = async (db: AccountConnection, users: readonly number[]): Promise<OwnerFacts> =>
  users.length === 0 ? noFacts : { contacts: [], ...(await readUsersAndStatements(db, numbersOf(users))) };

/**
 * Reads contacts and every user that was ever linked to them, or only the user with the given userUUID. `isMerged`:
 * whether one of the contacts is part of a merge.
 */
export const readContactFacts = async (
  db: AccountConnection,
  contacts: NumberQuery,
  userUUID: string | undefined,
): Promise<OwnerFacts & { readonly isMerged: boolean }> => {
  const linked = `SELECT DISTINCT linked."user" FROM (${contacts.sql}) AS owner (number)
    CROSS JOIN LATERAL (SELECT "user" FROM contact_user WHERE account = $1 AND contact = owner.number OFFSET 0) AS linked`;
  const only = ` WHERE linked."user" = (${numberOfUser.replace('$2', '$3')})`;
  const users =
    userUUID === undefined
      ? { ...contacts, sql: linked }
      : { sql: linked + only, values: [...contacts.values, userUUID] };
  const [rows, merged, people] = await Promise.all([
    readContactsOf(db, contacts),
    read(db, contacts, 'SELECT other FROM merged_contact WHERE account = $1 AND contact = each.number'),
    readUsersAndStatements(db, users),
  ]);
  const isMerged = merged.length > 0 || rows.some(({ mergedInto }) => mergedInto !== null);
  return { contacts: rows, ...people, isMerged };
};

/**
 * Reads a user, the contacts that the user was linked to, and the contacts that its events were logged with
 * (`loggedWith`).
 */
export const readUserWithContacts = async (
  db: AccountConnection,
  userUUID: string,
): Promise<OwnerFacts & { readonly loggedWith: readonly number[] }> => {
  const user: NumberQuery = { sql: numberOfUser, values: [userUUID] };
  const ofUser = (table: string) => `SELECT contact FROM ${table} WHERE account = $1 AND "user" = each.number`;
  const contacts = `SELECT of.contact FROM (${numberOfUser}) AS each (number)
    CROSS JOIN LATERAL (${ofUser('user_contact')} UNION ${ofUser('statement')} OFFSET 0) AS of`;
  const [rows, withContact, people] = await Promise.all([
    readContactsOf(db, { sql: contacts, values: [userUUID] }),
    read<{ contact: number }>(db, user, ofUser('user_contact')),
    readUsersAndStatements(db, user),
  ]);
  return { contacts: rows, ...people, loggedWith: withContact.map(({ contact }) => contact) };
};
