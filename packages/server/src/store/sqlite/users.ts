import type { Connection } from './connection.ts';
import type { Pending } from './transaction.ts';

export interface User {
  readonly user: number;
  firstDay: number | null;
  lastDay: number | null;
}

export interface Users extends Pending {
  find(account: number, userUUID: string): User | undefined;
  ensure(account: number, userUUID: string, time: number): User;
  /** Notes that the user has an event on a day; days come in ascending order. */
  seenOn(user: User, day: number): void;
}

/** Users that were met lately stay in memory; beyond this the one that was met first is let go. */
const mostRemembered = 50_000;

export const createUsers = (db: Connection): Users => {
  const select = db.prepare<[number, string], User>(
    'SELECT user, firstDay, lastDay FROM user WHERE account = ? AND userUUID = ?',
  );
  const insert = db.prepare('INSERT INTO user (account, userUUID, createdTime) VALUES (?, ?, ?)');
  const setDays = db.prepare('UPDATE user SET firstDay = ?, lastDay = ? WHERE user = ?');
  const remembered = new Map<string, User>();

  const remember = (key: string, user: User) => {
    if (remembered.size >= mostRemembered) remembered.delete(remembered.keys().next().value as string);
    remembered.set(key, user);
    return user;
  };

  const find = (account: number, userUUID: string) => {
    const key = `${account} ${userUUID}`;
    const known = remembered.get(key);
    if (known) return known;
    const found = select.get(account, userUUID);
    return found && remember(key, found);
  };

  return {
    find,
    ensure(account, userUUID, time) {
      const known = find(account, userUUID);
      if (known) return known;
      const { lastInsertRowid } = insert.run(account, userUUID, time);
      return remember(`${account} ${userUUID}`, { user: Number(lastInsertRowid), firstDay: null, lastDay: null });
    },
    seenOn(user, day) {
      if (user.lastDay === day) return;
      user.firstDay ??= day;
      user.lastDay = day;
      setDays.run(user.firstDay, day, user.user);
    },
    forget: () => remembered.clear(),
    undo: () => remembered.clear(),
  };
};
