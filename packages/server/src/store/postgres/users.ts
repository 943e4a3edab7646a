import { bigints, integers, texts } from './arrays.ts';
import type { Connection } from './connection.ts';
import type { Transaction } from './transaction.ts';

export interface UserName {
  readonly account: number;
  readonly userUUID: string;
}

export interface User extends UserName {
  readonly user: number;
  /** Before this day the user has no event. */
  readonly since: number;
  /** The last day on which it is known to have one; it may have later ones. */
  readonly seenOn: number | null;
}

interface DaysOfUser {
  readonly user: number;
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** Users that were met lately stay in memory; beyond this the one that was met first is let go. */
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

/** The number of a user; undefined when there is none of that name. */
export const findUser = async (db: Connection, name: UserName): Promise<number | undefined> =>
  (await findNumbers(db, [name]))[0]?.user;

/** By number. */
export const userUUIDsOf = async (db: Connection, users: readonly number[]): Promise<Map<number, string>> => {
  if (users.length === 0) return new Map();
  const rows = await db.all<{ user: number; userUUID: string }>(
    'SELECT "user", "userUUID" FROM "user" WHERE "user" = ANY ($1::bigint[])',
    [[...new Set(users)]],
  );
  return new Map(rows.map(({ user, userUUID }) => [user, userUUID]));
};

/** Holds the row of a user, under which alone anything is stated of that user; in the order of their numbers. */
export const lockUsers = (db: Connection, users: readonly number[]): Promise<unknown> =>
  db.all('SELECT "user" FROM "user" WHERE "user" = ANY ($1::bigint[]) ORDER BY "user" FOR NO KEY UPDATE', [users]);

export interface Users {
  /** One that was met lately. */
  known(name: UserName): User | undefined;
  /** Those of these names that there are. */
  find(db: Transaction, names: readonly UserName[]): Promise<User[]>;
  /** As `find`, and makes those that there are not: with an event on the day that is under way, or none yet. */
  ensure(
    db: Transaction,
    names: readonly UserName[],
    made: { readonly time: number; readonly withEvent: boolean },
  ): Promise<User[]>;
  /** Notes that these users have an event on a day. */
  seenOn(db: Transaction, users: readonly User[], day: number): Promise<void>;
}

export const createUsers = (): Users => {
  /** By userUUID: the last that was met, where several accounts have one of that name. */
  const remembered = new Map<string, User>();

  const remember = (user: User) => {
    if (remembered.size >= mostRemembered) remembered.delete(remembered.keys().next().value as string);
    remembered.set(user.userUUID, user);
  };

  const known: Users['known'] = ({ account, userUUID }) => {
    const user = remembered.get(userUUID);
    return user?.account === account ? user : undefined;
  };

  const read = async (db: Transaction, names: readonly UserName[]): Promise<User[]> => {
    const numbers = await findNumbers(db, names);
    if (numbers.length === 0) return [];
    const rows = await db.all<DaysOfUser>(
      'SELECT "user", "firstDay", "lastDay" FROM "user" WHERE "user" = ANY ($1::bigint[])',
      [bigints(numbers, ({ user }) => user)],
    );
    const days = new Map(rows.map((row) => [row.user, row]));
    return numbers.map(({ account, userUUID, user }) => {
      const { firstDay, lastDay } = days.get(user) as DaysOfUser;
      // No day before the one under way can have its first event any more.
      return { account, userUUID, user, since: firstDay ?? db.position.day, seenOn: lastDay };
    });
  };

  const find: Users['find'] = async (db, names) => {
    const met = names.flatMap((name) => known(name) ?? []);
    if (met.length === names.length) return met;
    const found = await read(
      db,
      names.filter((name) => !known(name)),
    );
    found.forEach(remember);
    return [...met, ...found];
  };

  /** Makes those that nobody has made meanwhile. */
  const make = async (db: Transaction, names: readonly UserName[], seenOn: number | null, time: number) => {
    const rows = await db.all<UserName & { user: number }>(
      `INSERT INTO user_name ("userUUID", account, "user")
       SELECT "userUUID", account, nextval('user_number')
       FROM unnest($1::integer[], $2::text[]) WITH ORDINALITY AS new (account, "userUUID", nth) ORDER BY nth
       ON CONFLICT DO NOTHING RETURNING account, "userUUID", "user"`,
      columnsOf(names),
    );
    const made = rows.map((row): User => ({ ...row, since: db.position.day, seenOn }));
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

    async ensure(db, names, { time, withEvent }) {
      const found = await find(db, names);
      if (found.length === names.length) return found;
      // In one order, so that no two transactions wait for each other.
      const named = names
        .map((name): [string, UserName] => [keyOfUser(name), name])
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const missing = new Map(named);
      for (const user of found) missing.delete(keyOfUser(user));
      const made = await make(db, [...missing.values()], withEvent ? db.position.day : null, time);
      for (const user of made) missing.delete(keyOfUser(user));
      // Somebody else has made these meanwhile.
      const others = missing.size > 0 ? await read(db, [...missing.values()]) : [];
      return [...found, ...made, ...others];
    },

    async seenOn(db, users, day) {
      const news = users.filter(({ seenOn }) => seenOn === null || seenOn < day);
      if (news.length === 0) return;
      // Held in the order of their numbers first: an update takes them as it finds them.
      const numbers = news.map(({ user }) => user).sort((a, b) => a - b);
      const locked = lockUsers(db, numbers);
      const updated = db.run(
        `UPDATE "user" SET "firstDay" = coalesce("firstDay", $2), "lastDay" = greatest("lastDay", $2)
         WHERE "user" = ANY ($1::bigint[])`,
        [numbers, day],
      );
      await Promise.all([locked, updated]);
      db.whenCommitted(() => {
        for (const user of news) remember({ ...user, seenOn: day });
      });
    },
  };
};
