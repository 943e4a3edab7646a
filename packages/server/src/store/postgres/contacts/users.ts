/** Users: finds and creates them, and caches those that were used lately. */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { bigints, integers, texts } from '../database/arrays.ts';
import type { AccountConnection } from '../database/connection.ts';
import { aboutRows, inserting, readRows, writeRows } from '../database/row-statements.ts';
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
  /** The last day on which the user is known to have an event; later ones may exist. Null: no event is known. */
  readonly seenOn: number | null;
}

interface Creation {
  readonly time: number;
  /** Whether the users have an event on the current day. */
  readonly withEvent: boolean;
}

/** The size of the cache of users. */
const maxCached = 50_000;

export const keyOfUser = ({ account, userUUID }: UserName): string => `${account} ${userUUID}`;

const userUUIDs = (names: readonly UserName[]) => texts(names, ({ userUUID }) => userUUID);
const accountsOf = (rows: readonly { readonly account: number }[]) => rows.map(({ account }) => account);

const finding = aboutRows(
  [['userUUID', 'text']],
  ({ given, ofAccount }) => `
    SELECT name.account, name."userUUID", name."user", u."firstDay", u."lastDay"
    FROM ${given} JOIN user_name name ON ${ofAccount('name')} AND name."userUUID" = given."userUUID"
      JOIN "user" u ON ${ofAccount('u')} AND u."user" = name."user"`,
);
const newNames = { end: 'ON CONFLICT DO NOTHING RETURNING account, "userUUID", "user"' };
const numberingNames = inserting('user_name', [['userUUID', 'text']], {
  equal: { user: "nextval('user_number')" },
  ...newNames,
});
// A worker of a cluster would draw other numbers than the coordinator.
const addingNames = inserting(
  'user_name',
  [
    ['userUUID', 'text'],
    ['user', 'bigint'],
  ],
  newNames,
);
const addingUsers = inserting('user', [
  ['user', 'bigint'],
  ['userUUID', 'text'],
  ['firstDay', 'bigint'],
  ['lastDay', 'bigint'],
  ['createdTime', 'bigint'],
]);
// Rows are locked by number first, because UPDATE locks them in the order in which it finds them.
const holding = aboutRows(
  [['user', 'bigint']],
  ({ given, ofAccount }) => `
    SELECT t."user" FROM ${given} JOIN "user" t ON ${ofAccount('t')} AND t."user" = given."user" ORDER BY t."user" FOR NO KEY UPDATE OF t`,
);
const seeing = aboutRows(
  [
    ['user', 'bigint'],
    ['day', 'integer'],
  ],
  ({ given, ofAccount }) => `
    UPDATE "user" t SET "firstDay" = coalesce("firstDay", given.day), "lastDay" = greatest("lastDay", given.day)
    FROM ${given} WHERE ${ofAccount('t')} AND t."user" = given."user"`,
);

// A day of activity concerns whom a user is now: none before its last verified link.
const listingChanged = aboutRows(
  [
    ['user', 'bigint'],
    ['change', 'bigint'],
  ],
  ({ given, ofAccount }) => `
    INSERT INTO contact_changed (account, contact, change)
    SELECT DISTINCT s.account, s.contact, given.change
    FROM ${given} JOIN statement s ON ${ofAccount('s')} AND s."user" = given."user"
    WHERE s.contact IS NOT NULL AND s.sequence >= coalesce(
      (SELECT max(v.sequence) FROM statement v WHERE ${ofAccount('v')} AND v."user" = s."user" AND v.verified AND v.voided = 0), 0)`,
);

/** Returns the current day of one of a transaction's accounts. */
const dayIn = (db: Transaction, account: number): number => db.of(account).currentDay.day;

/** SQL for the number of a user, whose userUUID is $2. */
export const numberOfUser = 'SELECT "user" FROM user_name WHERE account = $1 AND "userUUID" = $2';

/** Returns the number of a user; undefined when the user does not exist. */
export const findUser = async (db: AccountConnection, userUUID: string): Promise<number | undefined> =>
  (await db.get<{ user: number }>(numberOfUser, [db.account, userUUID]))?.user;

export interface UserRow {
  readonly user: number;
  readonly userUUID: string;
  /** Of activity; null: none yet. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** The columns of a UserRow. */
export const userColumns = '"user", "userUUID", "firstDay", "lastDay"';

/** Returns userUUIDs by the numbers of their users. */
export const userUUIDsOf = async (db: AccountConnection, users: readonly number[]): Promise<Map<number, string>> => {
  if (users.length === 0) return new Map();
  const rows = await db.all<Pick<UserRow, 'user' | 'userUUID'>>(
    'SELECT "user", "userUUID" FROM "user" WHERE account = $1 AND "user" = ANY ($2::bigint[])',
    [db.account, users],
  );
  return new Map(rows.map(({ user, userUUID }) => [user, userUUID]));
};

export const createUsers = () => {
  /** The cache, by userUUID. When several accounts have the same userUUID, it holds the last one that was used. */
  const remembered = new BoundedMap<string, User>(maxCached);

  const remember = (user: User) => void remembered.set(user.userUUID, user);

  /** Returns a user from the cache. */
  const known = ({ account, userUUID }: UserName): User | undefined => {
    const user = remembered.get(userUUID);
    return user?.account === account ? user : undefined;
  };

  const read = async (db: Transaction, names: readonly UserName[]): Promise<User[]> => {
    type Row = UserName & { user: number; firstDay: number | null; lastDay: number | null };
    const rows = await readRows<Row>(db, {
      statement: finding,
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

  /** Returns those of the named users that exist. */
  const find = async (db: Transaction, names: readonly UserName[]): Promise<User[]> => {
    const met = names.flatMap((name) => known(name) ?? []);
    if (met.length === names.length) return met;
    const missing = names.filter((name) => !known(name));
    const found = await read(db, missing);
    found.forEach(remember);
    return [...met, ...found];
  };

  /** Creates users and returns them, except those that another transaction has created meanwhile. */
  const make = async (db: Transaction, names: readonly UserName[], { time, withEvent }: Creation) => {
    const numbers = db.isSpread ? await drawNumbers(db, 'user_number', names.length) : undefined;
    const rows = await readRows<UserName & { user: number }>(db, {
      statement: numbers ? addingNames : numberingNames,
      accounts: accountsOf(names),
      columns: [userUUIDs(names), ...(numbers ? [bigints(numbers, (user) => user)] : [])],
    });
    const made = rows.map((row): User => {
      const day = dayIn(db, row.account);
      return { ...row, since: day, seenOn: withEvent ? day : null };
    });
    if (made.length === 0) return [];
    const days = bigints(made, ({ seenOn }) => seenOn);
    const times = bigints(made, () => time);
    await writeRows(db, {
      statement: addingUsers,
      accounts: accountsOf(made),
      columns: [bigints(made, ({ user }) => user), userUUIDs(made), days, days, times],
    });
    db.whenCommitted(() => made.forEach(remember));
    return made;
  };

  /** Creates users that were not found; returns all, also those that another transaction has created meanwhile. */
  const create = async (db: Transaction, names: readonly UserName[], how: Creation): Promise<User[]> => {
    if (names.length === 0) return [];
    // All transactions insert in the same order, so that no two wait for each other.
    const missing = new Map(names.map((name) => [keyOfUser(name), name] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
    const made = await make(db, [...missing.values()], how);
    for (const user of made) missing.delete(keyOfUser(user));
    const others = missing.size > 0 ? await read(db, [...missing.values()]) : [];
    return [...made, ...others];
  };

  return {
    known,
    find,
    create,

    /** As `find`, and creates the missing users. */
    async ensure(db: Transaction, names: readonly UserName[], how: Creation): Promise<User[]> {
      const found = await find(db, names);
      const keys = new Set(found.map(keyOfUser));
      const missing = names.filter((name) => !keys.has(keyOfUser(name)));
      return [...found, ...(await create(db, missing, how))];
    },

    /**
     * Records that users have an event on their accounts' current days. Holds the rows of the users that it updates, and of `others`.
     * Returns the users that it updated: give them to `listChanged`.
     */
    async seen(db: Transaction, users: readonly User[], others: readonly User[]): Promise<User[]> {
      const news = users.filter(({ seenOn, account }) => seenOn === null || seenOn < dayIn(db, account));
      const held = [...news, ...others];
      if (held.length === 0) return [];
      const numbersOf = (users: readonly User[]) => bigints(users, ({ user }) => user);
      const days = integers(news, ({ account }) => dayIn(db, account));
      await Promise.all([
        readRows(db, { statement: holding, accounts: accountsOf(held), columns: [numbersOf(held)] }),
        news.length > 0 &&
          writeRows(db, { statement: seeing, accounts: accountsOf(news), columns: [numbersOf(news), days] }),
      ]);
      db.whenCommitted(() => {
        for (const user of news) remember({ ...user, seenOn: dayIn(db, user.account) });
      });
      return news;
    },

    /** Lists the contacts of users that were seen as changed (contact-index.ts), under a sequence that this transaction has drawn. */
    async listChanged(db: Transaction, users: readonly User[], sequence: number): Promise<void> {
      if (users.length === 0) return;
      const changes = bigints(users, () => sequence);
      await writeRows(db, {
        statement: listingChanged,
        accounts: accountsOf(users),
        columns: [bigints(users, ({ user }) => user), changes],
      });
    },
  };
};
export type Users = ReturnType<typeof createUsers>;
