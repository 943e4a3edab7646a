import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Connection } from '../database/connection.ts';
import { type ActiveDays, isActive, noDays, withDay } from './active-days.ts';

export interface User {
  readonly account: number;
  readonly user: number;
  active: ActiveDays;
}

/** The cache size. */
const maxCached = 50_000;

export const createUsers = (db: Connection) => {
  const select = db.prepare<[number, string], ActiveDays & { user: number }>(
    'SELECT user, firstDay, lastDay, days FROM user WHERE account = ? AND userUUID = ?',
  );
  const insert = db.prepare('INSERT INTO user (account, userUUID, createdTime) VALUES (?, ?, ?)');
  const setDays = db.prepare('UPDATE user SET firstDay = ?, lastDay = ?, days = ? WHERE user = ?');
  /**
   * Keyed by userUUID alone, which hashes faster than a key that includes the account. If two accounts use the same
   * userUUID, only the user that was read last is cached.
   */
  const cache = new BoundedMap<string, User>(maxCached);

  const addToCache = (userUUID: string, user: User) => {
    cache.set(userUUID, user);
    return user;
  };

  const find = (account: number, userUUID: string): User | undefined => {
    const cached = cache.get(userUUID);
    if (cached?.account === account) return cached;
    const row = select.get(account, userUUID);
    if (!row) return undefined;
    const { user, ...active } = row;
    return addToCache(userUUID, { account, user, active });
  };

  return {
    find,
    ensure(account: number, userUUID: string, time: number): User {
      const existing = find(account, userUUID);
      if (existing) return existing;
      const { lastInsertRowid } = insert.run(account, userUUID, time);
      return addToCache(userUUID, { account, user: Number(lastInsertRowid), active: noDays });
    },
    /** Records that the user has an event on a day. Call it with days in ascending order. */
    addActiveDay(user: User, day: number): void {
      if (isActive(user.active, day)) return;
      user.active = withDay(user.active, day);
      const { firstDay, lastDay, days } = user.active;
      setDays.run(firstDay, lastDay, days, user.user);
    },
    forget: () => cache.clear(),
    undo: () => cache.clear(),
  };
};
export type Users = ReturnType<typeof createUsers>;
