/** Users: finds and creates them, and caches those that were used lately. */
import { BoundedMap } from '../../../bounded-map.ts';
import { bigints, integers, texts } from '../database/arrays.ts';
import type { Connection } from '../database/connection.ts';
import { holdUsers } from '../transactions/held-rows.ts';
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

/** The size of the cache of users. */
const mostRemembered = 50_000;

export const keyOfUser = ({ account, userUUID }: UserName): string => `${account} ${userUUID}`;

const columnsOf = (names: readonly UserName[]) => [
  integers(names, ({ account }) => account),
  texts(names, ({ userUUID }) => userUUID),
];

const findNumbers = (db: Connection, names: readonly UserName[]): Promise<(UserName & { user: number })[]> =>
  db.all<UserName & { user: number }>(
    `SELECT n.account, n."userUUID", n."user"
     FROM unnest($1::integer[], $2::text[]) AS asked (account, "userUUID")
     JOIN user_name n ON n."userUUID" = asked."userUUID" AND n.account = asked.account`,
    columnsOf(names),
  );

/** Returns the number of a user; undefined when the user does not exist. */
export const findUser = async (db: Connection, name: UserName): Promise<number | undefined> =>
  (await findNumbers(db, [name]))[0]?.user;

/** Returns userUUIDs by the numbers of their users. */
export const userUUIDsOf = async (db: Connection, users: readonly number[]): Promise<Map<number, string>> => {
  if (users.length === 0) return new Map();
  const rows = await db.all<{ user: number; userUUID: string }>(
    'SELECT "user", "userUUID" FROM "user" WHERE "user" = ANY ($1::bigint[])',
    [[...new Set(users)]],
  );
  return new Map(rows.map(({ user, userUUID }) => [user, userUUID]));
};

export const createUsers = () => {
  /** The cache, by userUUID. When several accounts have the same userUUID, it holds the last one that was used. */
  const remembered = new BoundedMap<string, User>(mostRemembered);

  const remember = (user: User) => void remembered.set(user.userUUID, user);

  /** Returns a user from the cache. */
  const known = ({ account, userUUID }: UserName): User | undefined => {
    const user = remembered.get(userUUID);
    return user?.account === account ? user : undefined;
  };

  const read = async (db: Transaction, names: readonly UserName[]): Promise<User[]> => {
    const numbers = await findNumbers(db, names);
    if (numbers.length === 0) return [];
    const byNumber = new Map(numbers.map((name) => [name.user, name]));
    const rows = await db.all<{ user: number; firstDay: number | null; lastDay: number | null }>(
      'SELECT "user", "firstDay", "lastDay" FROM "user" WHERE "user" = ANY ($1::bigint[])',
      [bigints(numbers, ({ user }) => user)],
    );
    return rows.map(({ user, firstDay, lastDay }) => ({
      ...(byNumber.get(user) as (typeof numbers)[number]),
      // A user without events cannot get its first event on a day before the current one.
      since: firstDay ?? db.currentDay.day,
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
  const make = async (db: Transaction, names: readonly UserName[], seenOn: number | null, time: number) => {
    const rows = await db.all<UserName & { user: number }>(
      `INSERT INTO user_name ("userUUID", account, "user")
       SELECT "userUUID", account, nextval('user_number')
       FROM unnest($1::integer[], $2::text[]) WITH ORDINALITY AS new (account, "userUUID", nth) ORDER BY nth
       ON CONFLICT DO NOTHING RETURNING account, "userUUID", "user"`,
      columnsOf(names),
    );
    const made = rows.map((row): User => ({ ...row, since: db.currentDay.day, seenOn }));
    await db.run(
      `INSERT INTO "user" ("user", account, "userUUID", "createdTime", "firstDay", "lastDay")
       SELECT unnest($1::bigint[]), unnest($2::integer[]), unnest($3::text[]), $4, $5, $5`,
      [bigints(made, ({ user }) => user), ...columnsOf(made), time, seenOn],
    );
    db.whenCommitted(() => made.forEach(remember));
    return made;
  };

  return {
    known,
    find,

    /** As `find`, and creates the missing users: `withEvent`, with an event on the current day. */
    async ensure(
      db: Transaction,
      names: readonly UserName[],
      { time, withEvent }: { readonly time: number; readonly withEvent: boolean },
    ): Promise<User[]> {
      const found = await find(db, names);
      if (found.length === names.length) return found;
      // All transactions insert in the same order, so that no two wait for each other.
      const named = names.map((name) => [keyOfUser(name), name] as const).sort(([a], [b]) => (a < b ? -1 : 1));
      const missing = new Map(named);
      for (const user of found) missing.delete(keyOfUser(user));
      const made = await make(db, [...missing.values()], withEvent ? db.currentDay.day : null, time);
      for (const user of made) missing.delete(keyOfUser(user));
      // Another transaction has created these meanwhile.
      const others = missing.size > 0 ? await read(db, [...missing.values()]) : [];
      return [...found, ...made, ...others];
    },

    /** Records that users have an event on a day. Holds the rows of the users that it updates, and of `others`. */
    async seenOn(db: Transaction, users: readonly User[], day: number, others: readonly number[]): Promise<void> {
      const news = users.filter(({ seenOn }) => seenOn === null || seenOn < day);
      const numbers = news.map(({ user }) => user);
      if (numbers.length + others.length === 0) return;
      // Rows are locked by number first, because UPDATE locks them in the order in which it finds them.
      const held = holdUsers(db, [...numbers, ...others]);
      const updated =
        numbers.length > 0 &&
        db.run(
          `UPDATE "user" SET "firstDay" = coalesce("firstDay", $2), "lastDay" = greatest("lastDay", $2)
           WHERE "user" = ANY ($1::bigint[])`,
          [numbers, day],
        );
      await Promise.all([held, updated]);
      db.whenCommitted(() => {
        for (const user of news) remember({ ...user, seenOn: day });
      });
    },
  };
};
export type Users = ReturnType<typeof createUsers>;
