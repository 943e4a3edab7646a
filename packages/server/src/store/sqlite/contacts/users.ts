import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Connection } from '../database/connection.ts';
import { type ActiveDays, isActive, noDays, withDay } from './active-days.ts';

export interface User {
  readonly account: number;
  readonly user: number;
  active: ActiveDays;
}

/** The most users in memory. */
const maxCached = 50_000;

export const createUsers = (db: Connection) => {
  const select = db.prepare<[number, string], ActiveDays & { user: number }>(
    'SELECT user, firstDay, lastDay, days FROM user WHERE account = ? AND userUUID = ?',
  );
  const insert = db.prepare('INSERT INTO user (account, userUUID, createdTime) VALUES (?, ?, ?)');
  const setDays = db.prepare('UPDATE user SET firstDay = ?, lastDay = ?, days = ? WHERE user = ?');
  /**
   * Keyed by userUUID alone, which is hashed faster than a key with the account. When two accounts use the same userUUID, the one
   * that was read last is held.
   */
  const remembered = new BoundedMap<string, User>(maxCached);

  const remember = (userUUID: string, user: User) => {
    remembered.set(userUUID, user);
    return user;
  };

  const find = (account: number, userUUID: string): User | undefined => {
    const known = remembered.get(userUUID);
    if (known?.account === account) return known;
    const found = select.get(account, userUUID);
    if (!found) return undefined;
    const { user, ...active } = found;
    return remember(userUUID, { account, user, active });
  };

  return {
    find,
    ensure(account: number, userUUID: string, time: number): User {
      const known = find(account, userUUID);
      if (known) return known;
      const { lastInsertRowid } = insert.run(account, userUUID, time);
      return remember(userUUID, { account, user: Number(lastInsertRowid), active: noDays });
    },
    /** Notes that the user has an event on a day. Days must ascend. */
    seenOn(user: User, day: number): void {
      if (isActive(user.active, day)) return;
      user.active = withDay(user.active, day);
      const { firstDay, lastDay, days } = user.active;
      setDays.run(firstDay, lastDay, days, user.user);
    },
    forget: () => remembered.clear(),
    undo: () => remembered.clear(),
  };
};
export type Users = ReturnType<typeof createUsers>;
