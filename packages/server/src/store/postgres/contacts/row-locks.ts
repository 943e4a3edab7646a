/**
 * Takes locks that last until the transaction ends, so that an erasure misses no concurrent write and blocks no
 * unrelated writes.
 *
 * To prevent deadlocks, all transactions take these locks in the same order: users by number, addresses, external IDs,
 * contacts by number, claims, statements, refused requests, the account. Only updateAccount locks the account first, so
 * it may have to run again after a deadlock.
 */
import { bigints } from '../database/arrays.ts';
import { type AccountConnection, ConcurrentChange, lockKeys } from '../database/connection.ts';
import { type ClusterAwareConnection, createBatchStatement, writeRows } from '../database/row-statements.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { usersOf } from './statements.ts';

const lockUsersSQL =
  'SELECT "user" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[]) ORDER BY "user" FOR NO KEY UPDATE';

/** Locks users' rows. A transaction must hold a user's row to add statements. */
export const lockUsers = (db: AccountConnection, users: readonly number[]): Promise<unknown> =>
  db.all(lockUsersSQL, [db.account, users]);

/** Locks the rows of the users that no other transaction has locked, and returns those users. */
export const lockFreeUsers = async (db: AccountConnection, users: readonly number[]): Promise<Set<number>> => {
  if (users.length === 0) return new Set();
  const rows = await db.all<{ user: number }>(
    'SELECT "user" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[]) FOR NO KEY UPDATE SKIP LOCKED',
    [db.account, users],
  );
  return new Set(rows.map(({ user }) => user));
};

/**
 * Locks the keys of contacts, so that no other transaction takes them, or finds them in `ensureContact`
 * (new-contacts.ts).
 */
export const lockContactKeys = async (db: AccountConnection, rows: readonly ContactRow[]): Promise<void> => {
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

/** Whether two versions of a contact row have the same keys. */
export const haveEqualKeys = (one: ContactRow, other: ContactRow | undefined): boolean =>
  one.contactEmailaddress === other?.contactEmailaddress && one.contactExternalID === other?.contactExternalID;

/** Contacts share this many advisory locks, because PostgreSQL's lock table has room for only a few thousand. */
const contactLocks = 64;

const createLockStatement = (take: string) =>
  createBatchStatement(
    [['lock', 'bigint']],
    ({ batch }) => `SELECT ${take}(${lockKeys.contacts} + lock) FROM ${batch}`,
  );
const lockStatements = {
  exclusive: createLockStatement('pg_advisory_xact_lock'),
  shared: createLockStatement('pg_advisory_xact_lock_shared'),
};

/**
 * Takes advisory locks, because PostgreSQL grants `FOR KEY SHARE` ahead of a waiting erasure, which could then starve.
 * On a cluster, the locks are taken on the contacts' worker, and held for as long as the transaction can commit there.
 */
const lockContacts = (db: ClusterAwareConnection, contacts: readonly number[], how: keyof typeof lockStatements) => {
  const locks = [...new Set(contacts.map((contact) => contact % contactLocks))].sort((a, b) => a - b);
  return writeRows(db, {
    statement: lockStatements[how],
    accounts: locks.map(() => db.account),
    columns: [bigints(locks, (lock) => lock)],
  });
};

/** Contacts and a connection for their account. */
type ContactsOf = readonly [db: ClusterAwareConnection, contacts: readonly number[]];

/** Prevents the erasure of contacts until this transaction ends. Throws ConcurrentChange if one is already erased. */
export const preventErasure = async (groups: readonly ContactsOf[]): Promise<void> => {
  const [first] = groups;
  if (!first) return;
  const all = groups.flatMap(([, contacts]) => contacts);
  const [, ...counts] = await Promise.all([
    lockContacts(first[0], all, 'shared'),
    ...groups.map(([{ account, one }, contacts]) =>
      one<{ count: number }>(
        'SELECT count(*) AS count FROM contact WHERE account = $1 AND contact = ANY ($2::bigint[])',
        [account, contacts],
      ),
    ),
  ]);
  if (counts.reduce((sum, { count }) => sum + count, 0) < new Set(all).size) throw new ConcurrentChange();
};

/**
 * Locks everything that is erased with one person's contacts, so that no other transaction can change it or add to it.
 * Events of their users can still be stored, with later sequences. Throws ConcurrentChange if rows changed in the
 * meantime.
 */
export const lockPerson = async (db: ClusterAwareConnection, group: readonly number[]) => {
  const [before, usersBefore] = await Promise.all([readContacts(db, group), usersOf(db, group)]);
  const [, , , rows, linked] = await Promise.all([
    lockUsers(db, usersBefore),
    lockContactKeys(db, before),
    lockContacts(db, group, 'exclusive'),
    db.all<ContactRow>(
      'SELECT * FROM contact WHERE account = $1 AND contact = ANY ($2::bigint[]) ORDER BY contact FOR UPDATE',
      [db.account, group],
    ),
    usersOf(db, group),
  ]);
  const isSame = rows.every((row, nth) => haveEqualKeys(row, before[nth]));
  // Users that were linked since the first read are usually no longer locked by the transaction that linked them.
  const locked = new Set(usersBefore);
  const added = linked.filter((user) => !locked.has(user));
  const free = await lockFreeUsers(db, added);
  if (rows.length < group.length || !isSame || free.size < added.length) throw new ConcurrentChange();
  const users = [...usersBefore, ...added];
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
