/** The time at which a proxy forwarded requests while TRUST_PROXY was not set. */
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const noteUnknownProxy = async (db: Connection, { seenTime }: RequestOf<'noteUnknownProxy'>): Promise<void> => {
  if (seenTime === null) await db.run('DELETE FROM unknown_proxy');
  else
    await db.run(
      `INSERT INTO unknown_proxy VALUES (1, $1)
       ON CONFLICT (id) DO UPDATE SET "seenTime" = greatest(unknown_proxy."seenTime", excluded."seenTime")`,
      [seenTime],
    );
};

export const readUnknownProxy = async (db: Connection): Promise<number | null> =>
  (await db.get<{ seenTime: number }>('SELECT "seenTime" FROM unknown_proxy'))?.seenTime ?? null;
