/**
 * Reads what decides about the owners of a page's events, in as few steps as possible: as if the contact were not merged. Every statement
 * finds rows one by one with `CROSS JOIN LATERAL (… OFFSET 0)`: PostgreSQL keeps its plan for all accounts, and `= ANY` may make it read all rows of an account, where most
 * accounts have few.
 */
import type { DecidingStatement } from '../../rules/links.ts';
import type { AccountConnection } from '../database/connection.ts';
import { byNumber, type ContactRow } from './contact-rows.ts';
import { type ClaimMarks, type Facts, factColumns, toDeciding } from './statements.ts';
import { numberOfUser, type UserRow, userColumns } from './users.ts';

/** A statement, and the claimID of the claim that made it. */
export type ClaimedStatement = DecidingStatement & { readonly claimID: string | null };

/** What is known of contacts and users. Of a user who is known, all statements are. */
export interface People {
  readonly contacts: readonly ContactRow[];
  readonly users: readonly UserRow[];
  /** By user, ascending by sequence; users without statements are absent. */
  readonly statements: ReadonlyMap<number, readonly ClaimedStatement[]>;
}
export const nobody: People = { contacts: [], users: [], statements: new Map() };

/** Numbers of contacts or users: SQL for rows with one column, and the value of its parameter $2. */
export interface Numbers {
  readonly sql: string;
  readonly value: unknown;
}

export const listed = (numbers: readonly number[]): Numbers => ({ sql: 'SELECT unnest($2::bigint[])', value: numbers });

const read = <Row>(db: AccountConnection, { sql, value }: Numbers, rows: string): Promise<Row[]> =>
  db.all<Row>(`SELECT one.* FROM (${sql}) AS each (number) CROSS JOIN LATERAL (${rows} OFFSET 0) AS one`, [
    db.account,
    value,
  ]);

const readContacts = async (db: AccountConnection, contacts: Numbers): Promise<ContactRow[]> => {
  const rows = await read<ContactRow>(
    db,
    contacts,
    'SELECT * FROM contact WHERE account = $1 AND contact = each.number',
  );
  return rows.sort(byNumber);
};

const readUsers = (db: AccountConnection, users: Numbers): Promise<UserRow[]> =>
  read(db, users, `SELECT ${userColumns} FROM "user" WHERE account = $1 AND "user" = each.number`);

type Row = Facts & { readonly marks: ClaimMarks | null };

const readStatements = async (db: AccountConnection, users: Numbers): Promise<Map<number, ClaimedStatement[]>> => {
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
  // Sorted here: event-order.ts says why.
  for (const { marks, ...row } of rows.sort((a, b) => a.sequence - b.sequence)) {
    const list = lists.get(row.user) ?? [];
    list.push({ ...toDeciding(row, marks ?? undefined), claimID: marks?.claimID ?? null });
    lists.set(row.user, list);
  }
  return lists;
};

const readUsersAndStatements = async (
  db: AccountConnection,
  numbers: Numbers,
): Promise<Pick<People, 'users' | 'statements'>> => {
  const [users, statements] = await Promise.all([readUsers(db, numbers), readStatements(db, numbers)]);
  return { users, statements };
};

/** Reads users by their numbers. */
export const readPeople = async (db: AccountConnection, users: readonly number[]): Promise<People> =>
  users.length === 0 ? nobody : { contacts: [], ...(await readUsersAndStatements(db, listed(users))) };

/** Reads contacts, and the users that were ever linked to one of them. `isMerged`: whether one is merged, or another into it. */
export const readLinkedTo = async (
  db: AccountConnection,
  contacts: Numbers,
): Promise<People & { readonly isMerged: boolean }> => {
  const users = {
    sql: `SELECT DISTINCT linked."user" FROM (${contacts.sql}) AS owner (number)
      CROSS JOIN LATERAL (SELECT "user" FROM contact_user WHERE account = $1 AND contact = owner.number OFFSET 0) AS linked`,
    value: contacts.value,
  };
  const [rows, merged, people] = await Promise.all([
    readContacts(db, contacts),
    read(db, contacts, 'SELECT other FROM merged_contact WHERE account = $1 AND contact = each.number'),
    readUsersAndStatements(db, users),
  ]);
  const isMerged = merged.length > 0 || rows.some(({ mergedInto }) => mergedInto !== null);
  return { contacts: rows, ...people, isMerged };
};

/** Reads a user, the contacts with which events of the user were logged (`loggedWith`), and all that the user was linked to. */
export const readUser = async (
  db: AccountConnection,
  userUUID: string,
): Promise<People & { readonly loggedWith: readonly number[] }> => {
  const user: Numbers = { sql: numberOfUser, value: userUUID };
  const ofUser = (table: string) => `SELECT contact FROM ${table} WHERE account = $1 AND "user" = each.number`;
  const contacts = `SELECT of.contact FROM (${numberOfUser}) AS each (number)
    CROSS JOIN LATERAL (${ofUser('user_contact')} UNION ${ofUser('statement')} OFFSET 0) AS of`;
  const [rows, withContact, people] = await Promise.all([
    readContacts(db, { sql: contacts, value: userUUID }),
    read<{ contact: number }>(db, user, ofUser('user_contact')),
    readUsersAndStatements(db, user),
  ]);
  return { contacts: rows, ...people, loggedWith: withContact.map(({ contact }) => contact) };
};
