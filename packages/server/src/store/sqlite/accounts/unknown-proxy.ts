import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const createUnknownProxyWriter = (db: Connection) => {
  const write = db.prepare(`
    INSERT INTO unknown_proxy VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET seenTime = max(seenTime, excluded.seenTime)`);
  const forget = db.prepare('DELETE FROM unknown_proxy');
  return {
    noteUnknownProxy({ seenTime }: RequestOf<'noteUnknownProxy'>): void {
      if (seenTime === null) forget.run();
      else write.run(seenTime);
    },
  };
};

export const readUnknownProxy = (db: Connection): number | null =>
  db.prepare<[], number>('SELECT seenTime FROM unknown_proxy').pluck().get() ?? null;
