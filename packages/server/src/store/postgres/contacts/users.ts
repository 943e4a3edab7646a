/** Finds and creates users, and caches recently used ones. */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { bigints, integers, texts } from '../database/arrays.ts';
import type { AccountConnection } from '../database/connection.ts';
import { createBatchStatement, createInsert, readRows, writeRows } from '../database/row-statements.ts';
import { drawNumbers } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';

export interface UserName {
  readonly account: number;
  readonly userUUID: string;
}

export interface User extends UserName {
  readonly user: number;
  /** The user has no event before this day. */
  readonly since: number;
  /** The last known day on which the user has an event. Null if none is known. */
  readonly seenOn: number | null;
}

interface Creation {
  readonly time: number;
  /** Whether the users have an event on the current day. */
  readonly withEvent: boolean;
}

/** The size of the user cache. */
const maxCached = 50_000;

export const keyOfUser = ({ account, userUUID }: UserName): string => `${account} ${userUUID}`;

const userUUIDs = (names: readonly UserName[]) => texts(names, ({ userUUID }) => userUUID);
const accountsOf = (rows: readonly { readonly account: number }[]) => rows.map(({ account }) => account);

const selectUsers = createBatchStatement(
  [['userUUID', 'text']],
  ({ batch, ofAccount }) => `
    SELECT name.account, name."userUUID", name."user", u."firstDay", u."lastDay"
    FROM ${batch} JOIN user_name name ON ${ofAccount('name')} AND name."userUUID" = batch."userUUID"
      JOIN "user" u ON ${ofAccount('u')} AND u."user" = name."user"`,
);
const newNames = { end: 'ON CONFLICT DO NOTHING RETURNING account, "userUUID", "user"' };
const insertNumberedNames = createInsert('user_name', [['userUUID', 'text']], {
  equal: { user: "nextval('user_number')" },
  ...newNames,
});
// Used on a cluster, whose workers would not draw the same numbers as the coordinator.
const insertNames = createInsert(
  'user_name',
  [
    ['userUUID', 'text'],
    ['user', 'bigint'],
  ],
  newNames,
);
const insertUsers = createInsert('user', [
  ['user', 'bigint'],
  ['userUUID', 'text'],
  ['firstDay', 'bigint'],
  ['lastDay', 'bigint'],
  ['createdTime', 'bigint'],
]);
// Locks rows by number first, because UPDATE locks them in an arbitrary order.
const lockUsersInOrder = createBatchStatement(
  [['user', 'bigint']],
  ({ batch, ofAccount }) => `
    SELECT t."user" FROM ${batch} JOIN "user" t ON ${ofAccount('t')} AND t."user" = batch."user" ORDER BY t."user" FOR NO KEY UPDATE OF t`,
);
const updateDays = createBatchStatement(
  [
    ['user', 'bigint'],
    ['day', 'integer'],
  ],
  ({ batch, ofAccount }) => `
    UPDATE "user" t SET "firstDay" = coalesce("firstDay", batch.day), "lastDay" = greatest("lastDay", batch.day)
    FROM ${batch} WHERE ${ofAccount('t')} AND t."user" = batch."user"`,
);

// The user's activity affects only contacts that it may belong to now: none from before its last verified link.
const insertChangedContacts = createBatchStatement(
  [
    ['user', 'bigint'],
    ['change', 'bigint'],
  ],
  ({ batch, ofAccount }) => `
    INSERT INTO contact_changed (account, contact, change)
    SELECT DISTINCT s.account, s.contact, batch.change
    FROM ${batch} JOIN statement s ON ${ofAccount('s')} AND s."user" = batch."user"
    WHERE s.contact IS NOT NULL AND s.sequence >= coalesce(
      (SELECT max(v.sequence) FROM statement v WHERE ${ofAccount('v')} AND v."user" = s."user" AND v.verified AND v.voided = 0), 0)`,
);

/** Returns the current day of one of the transaction's accounts. */
const dayIn = (db: Transaction, account: number): number => db.forAccount(account).currentDay.day;

/** SQL for the row number of the user with the userUUID $2. */
export const numberOfUser = 'SELECT "user" FROM user_name WHERE account = $1 AND "userUUID" = $2';

/** Returns a user's row number; undefined if the user does not exist. */
export const findUser = async (db: AccountConnection, userUUID: string): Promise<number | undefined> =>
  (await db.get<{ user: number }>(numberOfUser, [db.account, userUUID]))?.user;

export interface UserRow {
  readonly user: number;
  readonly userUUID: string;
  /** The first and last day of activity; null if there is none. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** The columns of a UserRow. */
export const userColumns = '"user", "userUUID", "firstDay", "lastDay"';

/** Returns userUUIDs by user number. */
export const userUUIDsOf = async (db: AccountConnection, users: readonly number[]): Promise<Map<number, string>> => {
  if (users.length === 0) return new Map();
  const rows = await db.all<Pick<UserRow, 'user' | 'userUUID'>>(
    'SELECT "user", "userUUID" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[])',
    [db.account, users],
  );
  return new Map(rows.map(({ user, userUUID }) => [user, userUUID]));
};

/** Marks the users' contacts as changed (contact-index.ts), under a sequence of this transaction. */
export const markContactsChanged = async (db: Transaction, users: readonly User[], sequence: number): Promise<void> => {
  if (users.length === 0) return;
  const changes = bigints(users, () => sequence);
  await writeRows(db, {
    statement: insertChangedContacts,
    accounts: accountsOf(users),
    columns: [bigints(users, ({ user }) => user), changes],
  });
};

export const createUsers = () => {
  /**
   * Keyed by userUUID. If several accounts have the same userUUID, the cache holds only the user that was used last.
   */
  const cache = new BoundedMap<string, User>(maxCached);

  const addToCache = (user: User) => void cache.set(user.userUUID, user);

  const getCached = ({ account, userUUID }: UserName): User | undefined => {
    const user = cache.get(userUUID);
    return user?.account === account ? user : undefined;
  };

  const read = async (db: Transaction, names: readonly UserName[]): Promise<User[]> => {
    type Row = UserName & { user: number; firstDay: number | null; lastDay: number | null };
    const rows = await readRows<Row>(db, {
      statement: selectUsers,
      accounts: accountsOf(names),
      columns: [userUUIDs(names)],
    });
    return rows.map(({ firstDay, lastDay, ...user }) => ({
      ...user,
      // A user without events cannot get its first event on a day before the current one.
      since: firstDay ?? dayIn(db, user.account),
      seenOn: lastDay,
    }));
  };

  /** Returns the named users that exist. */
  const find = async (db: Transaction, names: readonly UserName[]): Promise<User[]> => {
    const cached = names.flatMap((name) => getCached(name) ?? []);
    if (cached.length === names.length) return cached;
    const missing = names.filter((name) => !getCached(name));
    const stored = await read(db, missing);
    // Cached only after the commit, because the read may include users that this transaction has created.
    db.whenCommitted(() => stored.forEach(addToCache));
    return [...cached, ...stored];
  };

  /** Creates users and returns them, except users that another transaction has created in the meantime. */
  const insert = async (db: Transaction, names: readonly UserName[], { time, withEvent }: Creation) => {
    const numbers = db.isDistributed ? await drawNumbers(db, 'user_number', names.length) : undefined;
    const rows = await readRows<UserName & { user: number }>(db, {
      statement: numbers ? insertNames : insertNumberedNames,
      accounts: accountsOf(names),
      columns: [userUUIDs(names), ...(numbers ? [bigints(numbers, (user) => user)] : [])],
    });
    const created = rows.map((row): User => {
      const day = dayIn(db, row.account);
      return { ...row, since: day, seenOn: withEvent ? day : null };
    });
    if (created.length === 0) return [];
    const days = bigints(created, ({ seenOn }) => seenOn);
    const times = bigints(created, () => time);
    await writeRows(db, {
      statement: insertUsers,
      accounts: accountsOf(created),
      columns: [bigints(created, ({ user }) => user), userUUIDs(created), days, days, times],
    });
    db.whenCommitted(() => created.forEach(addToCache));
    return created;
  };

  /**
   * Creates the users that did not exist. Returns all users, including those that another transaction has created in
   * the meantime.
   */
  const create = async (db: Transaction, names: readonly UserName[], creation: Creation): Promise<User[]> => {
    if (names.length === 0) return [];
    // Sorted, so that all transactions insert in the same order, which prevents deadlocks.
    const missing = new Map(names.map((name) => [keyOfUser(name), name] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
    const created = await insert(db, [...missing.values()], creation);
    for (const user of created) missing.delete(keyOfUser(user));
    const others = missing.size > 0 ? await read(db, [...missing.values()]) : [];
    return [...created, ...others];
  };

  return {
    getCached,
    find,
    create,

    /** Like `find`, but creates missing users. */
    async ensure(db: Transaction, names: readonly UserName[], creation: Creation): Promise<User[]> {
      const existing = await find(db, names);
      const keys = new Set(existing.map(keyOfUser));
      const missing = names.filter((name) => !keys.has(keyOfUser(name)));
      return [...existing, ...(await create(db, missing, creation))];
    },

    /**
     * Records that users have an event on their accounts' current days. Locks the rows of the users that it updates,
     * and of `others`. Returns the updated users, for `markContactsChanged`.
     */
    async recordActivity(db: Transaction, users: readonly User[], others: readonly User[]): Promise<User[]> {
      const outdated = users.filter(({ seenOn, account }) => seenOn === null || seenOn < dayIn(db, account));
      const locked = [...outdated, ...others];
      if (locked.length === 0) return [];
      const numbersOf = (users: readonly User[]) => bigints(users, ({ user }) => user);
      const days = integers(outdated, ({ account }) => dayIn(db, account));
      await Promise.all([
        readRows(db, { statement: lockUsersInOrder, accounts: accountsOf(locked), columns: [numbersOf(locked)] }),
        outdated.length > 0 &&
          writeRows(db, {
            statement: updateDays,
            accounts: accountsOf(outdated),
            columns: [numbersOf(outdated), days],
          }),
      ]);
      db.whenCommitted(() => {
        for (const user of outdated) addToCache({ ...user, seenOn: dayIn(db, user.account) });
      });
      return outdated;
    },
  };
};
export type Users = ReturnType<typeof createUsers>;
