import type { Connection } from './connection.ts';
import type { Transaction } from './transaction.ts';

export interface User {
  readonly user: number;
  /** Before this day the user has no event. */
  readonly since: number;
  /** The last day on which it is known to have one; it may have later ones. */
  readonly seenOn: number | null;
}

export interface UserName {
  readonly account: number;
  readonly userUUID: string;
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
  names.map(({ account }) => account),
  names.map(({ userUUID }) => userUUID),
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
  /** Those of these names that there are, by keyOfUser. */
  find(db: Transaction, names: readonly UserName[]): Promise<Map<string, User>>;
  /** As `find`, and makes those that there are not. */
  ensure(db: Transaction, names: readonly UserName[], time: number): Promise<Map<string, User>>;
  /** Notes that these users have an event on a day. */
  seenOn(db: Transaction, users: ReadonlyMap<string, User>, day: number): Promise<void>;
}

export const createUsers = (): Users => {
  const remembered = new Map<string, User>();

  const remember = (key: string, user: User) => {
    if (remembered.size >= mostRemembered) remembered.delete(remembered.keys().next().value as string);
    remembered.set(key, user);
  };

  const read = async (db: Transaction, names: readonly UserName[]): Promise<[string, User][]> => {
    const numbers = await findNumbers(db, names);
    if (numbers.length === 0) return [];
    const rows = await db.all<DaysOfUser>(
      'SELECT "user", "firstDay", "lastDay" FROM "user" WHERE "user" = ANY ($1::bigint[])',
      [numbers.map(({ user }) => user)],
    );
    const days = new Map(rows.map((row) => [row.user, row]));
    return numbers.map((name) => {
      const { firstDay, lastDay } = days.get(name.user) as DaysOfUser;
      // No day before the one under way can have its first event any more.
      return [keyOfUser(name), { user: name.user, since: firstDay ?? db.position.day, seenOn: lastDay }];
    });
  };

  const find: Users['find'] = async (db, names) => {
    const found = new Map<string, User>();
    const unknown = new Map<string, UserName>();
    for (const name of names) {
      const key = keyOfUser(name);
      const known = remembered.get(key);
      if (known) found.set(key, known);
      else unknown.set(key, name);
    }
    if (unknown.size === 0) return found;
    for (const [key, user] of await read(db, [...unknown.values()])) {
      found.set(key, user);
      remember(key, user);
    }
    return found;
  };

  return {
    find,

    async ensure(db, names, time) {
      const found = await find(db, names);
      const missing = new Map(
        names.map((name) => [keyOfUser(name), name]).filter(([key]) => !found.has(key as string)) as [
          string,
          UserName,
        ][],
      );
      if (missing.size === 0) return found;
      // In one order, so that no two transactions wait for each other.
      const ordered = [...missing].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
      const made = await db.all<UserName & { user: number }>(
        `INSERT INTO user_name ("userUUID", account, "user")
         SELECT "userUUID", account, nextval('user_number')
         FROM unnest($1::integer[], $2::text[]) WITH ORDINALITY AS new (account, "userUUID", nth) ORDER BY nth
         ON CONFLICT DO NOTHING RETURNING account, "userUUID", "user"`,
        columnsOf(ordered),
      );
      await db.run(
        `INSERT INTO "user" ("user", account, "userUUID", "createdTime")
         SELECT "user", account, "userUUID", $4 FROM unnest($1::bigint[], $2::integer[], $3::text[]) AS new ("user", account, "userUUID")`,
        [made.map(({ user }) => user), ...columnsOf(made), time],
      );
      for (const name of made) {
        const key = keyOfUser(name);
        const user: User = { user: name.user, since: db.position.day, seenOn: null };
        found.set(key, user);
        missing.delete(key);
        db.whenCommitted(() => remember(key, user));
      }
      // Somebody else has made these meanwhile.
      if (missing.size > 0) for (const [key, user] of await read(db, [...missing.values()])) found.set(key, user);
      return found;
    },

    async seenOn(db, users, day) {
      const news = [...users].filter(([, { seenOn }]) => seenOn === null || seenOn < day);
      if (news.length === 0) return;
      // Held in the order of their numbers first: an update takes them as it finds them.
      const numbers = news.map(([, { user }]) => user).sort((a, b) => a - b);
      const locked = lockUsers(db, numbers);
      const updated = db.run(
        `UPDATE "user" SET "firstDay" = coalesce("firstDay", $2), "lastDay" = greatest("lastDay", $2)
         WHERE "user" = ANY ($1::bigint[])`,
        [numbers, day],
      );
      await Promise.all([locked, updated]);
      db.whenCommitted(() => {
        for (const [key, user] of news) remembered.set(key, { ...user, seenOn: day });
      });
    },
  };
};
