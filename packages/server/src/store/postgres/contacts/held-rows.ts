/**
 * The rows and locks that a transaction holds until it ends, so that an erasure misses nothing that is written at the same time,
 * and unrelated writes go on. All transactions take them in one order, so that no two wait for each other: users by number,
 * addresses, external IDs, contacts by number, claims, statements, refused requests, the account. Only updateAccount begins with the account,
 * so it may have to run again after a deadlock.
 */

import { bigints } from '../database/arrays.ts';
import { type AccountConnection, lockKeys, Overtaken } from '../database/connection.ts';
import { aboutRows, type SpreadConnection, writeRows } from '../database/row-statements.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { usersOf } from './statements.ts';

/** Of one account. */
const holdingUsers =
  'SELECT "user" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[]) ORDER BY "user" FOR NO KEY UPDATE';

/** Holds the rows of users. A transaction adds statements of a user only while it holds the user's row. */
export const holdUsers = (db: AccountConnection, users: readonly number[]): Promise<unknown> =>
  db.all(holdingUsers, [db.account, users]);

/** Holds the rows of those users that no other transaction holds, and returns these users. */
export const holdFreeUsers = async (db: AccountConnection, users: readonly number[]): Promise<Set<number>> => {
  if (users.length === 0) return new Set();
  const rows = await db.all<{ user: number }>(
    'SELECT "user" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[]) FOR NO KEY UPDATE SKIP LOCKED',
    [db.account, users],
  );
  return new Set(rows.map(({ user }) => user));
};

/** Holds the keys of contacts: before this transaction ends, no other takes them, or finds them in `ensureContact` (put-contact.ts). */
export const holdKeys = async (db: AccountConnection, rows: readonly ContactRow[]): Promise<void> => {
  const contacts = rows.map(({ contact }) => contact);
  await Promise.all([
    db.all(
      `SELECT contact FROM contact_address
       WHERE account = $1 AND "contactEmailaddress" = ANY ($2::text[]) AND contact = ANY ($3::bigint[])
       ORDER BY "contactEmailaddress" FOR UPDATE`,
      [db.account, rows.map(({ contactEmailaddress }) => contactEmailaddress), contacts],
    ),
    db.all(
      `SELECT contact FROM contact_external_id
       WHERE account = $1 AND "contactExternalID" = ANY ($2::text[]) AND contact = ANY ($3::bigint[])
       ORDER BY "contactExternalID" FOR UPDATE`,
      [db.account, rows.map(({ contactExternalID }) => contactExternalID), contacts],
    ),
  ]);
};

/** Whether two readings of a contact's row have the same keys. */
export const haveSameKeys = (one: ContactRow, other: ContactRow | undefined): boolean =>
  one.contactEmailaddress === other?.contactEmailaddress && one.contactExternalID === other?.contactExternalID;

/** Contacts share this many advisory locks, because PostgreSQL's lock table holds only some thousands. */
const contactLocks = 64;

const locking = (take: string) =>
  aboutRows([['lock', 'bigint']], ({ given }) => `SELECT ${take}(${lockKeys.contacts} + lock) FROM ${given}`);
const lockingContacts = { alone: locking('pg_advisory_xact_lock'), shared: locking('pg_advisory_xact_lock_shared') };

/**
 * Takes advisory locks, not `FOR KEY SHARE`: PostgreSQL grants the latter ahead of an erasure that already waits, which could then
 * wait for ever. On a cluster these locks are taken where the contacts are, and held as long as the transaction may still commit there.
 */
const lockContacts = (db: SpreadConnection, contacts: readonly number[], how: keyof typeof lockingContacts) => {
  const locks = [...new Set(contacts.map((contact) => contact % contactLocks))].sort((a, b) => a - b);
  return writeRows(db, {
    statement: lockingContacts[how],
    accounts: locks.map(() => db.account),
    columns: [bigints(locks, (lock) => lock)],
  });
};

/** Contacts, and a connection of their account. */
type ContactsOf = readonly [db: SpreadConnection, contacts: readonly number[]];

/** Prevents the erasure of contacts, of the accounts of this transaction, until it ends. Throws Overtaken when one is already erased. */
export const holdContacts = async (groups: readonly ContactsOf[]): Promise<void> => {
  const [first] = groups;
  if (!first) return;
  const all = groups.flatMap(([, contacts]) => contacts);
  const [, ...counts] = await Promise.all([
    lockContacts(first[0], all, 'shared'),
    ...groups.map(([{ account, one }, contacts]) =>
      one<{ found: number }>(
        'SELECT count(*) AS found FROM contact WHERE account = $1 AND contact = ANY ($2::bigint[])',
        [account, contacts],
      ),
    ),
  ]);
  if (counts.reduce((sum, { found }) => sum + found, 0) < new Set(all).size) throw new Overtaken();
};

/**
 * Holds everything that is erased with contacts who are one person: no other transaction adds to it or changes it before this one
 * ends. Only events of their users can still be stored; they get later sequences. Throws Overtaken when rows changed meanwhile.
 */
export const holdPerson = async (db: SpreadConnection, group: readonly number[]) => {
  const [seen, found] = await Promise.all([readContacts(db, group), usersOf(db, group)]);
  const [, , , rows, linked] = await Promise.all([
    holdUsers(db, found),
    holdKeys(db, seen),
    lockContacts(db, group, 'alone'),
    db.all<ContactRow>(
      'SELECT * FROM contact WHERE account = $1 AND contact = ANY ($2::bigint[]) ORDER BY contact FOR UPDATE',
      [db.account, group],
    ),
    usersOf(db, group),
  ]);
  const isSame = rows.every((row, nth) => haveSameKeys(row, seen[nth]));
  // Users that were linked since the first read are usually no longer held.
  const known = new Set(found);
  const added = linked.filter((user) => !known.has(user));
  const free = await holdFreeUsers(db, added);
  if (rows.length < group.length || !isSame || free.size < added.length) throw new Overtaken();
  const users = [...found, ...added];
  await Promise.all([
    db.all(
      'SELECT claim FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[]) ORDER BY contact, claim FOR UPDATE',
      [db.account, group],
    ),
    db.all(
      `SELECT sequence FROM statement WHERE account = $1 AND "user" = ANY ($2::bigint[])
       ORDER BY "user", sequence FOR NO KEY UPDATE`,
      [db.account, users],
    ),
  ]);
  return { rows, users };
};
