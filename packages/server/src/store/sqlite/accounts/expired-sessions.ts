/** Deletes expired share links, known networks and console sessions, some per commit. */
import { listedMilliseconds } from '../../rules/accounts/expired-sessions.ts';
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

/** SQL conditions that hold if no row references a token. Only such a session may be deleted. */
const unreferenced = [
  ['audit', 'token'],
  ['statement', 'token'],
  ['claim', 'token'],
  ['token', 'createdBy'],
  ['member', 'invitedBy'],
  ['share_link', 'createdBy'],
  ['refused_request', 'token'],
  ['refused_count', 'token'],
].map(([table, column]) => `NOT EXISTS (SELECT 1 FROM ${table} n WHERE n.${column} = t.token)`);

const isNewest = `t.createdBy IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM token n WHERE n.createdBy = t.createdBy AND n.session AND n.token > t.token)`;

export const createExpiryWriter = (db: Connection) => {
  const removeLinks = db.prepare<{ time: number; most: number }>(
    'DELETE FROM share_link WHERE shareID IN (SELECT shareID FROM share_link WHERE expiresTime <= @time LIMIT @most)',
  );
  const removeNetworks = db.prepare<{ time: number; most: number }>(
    'DELETE FROM known_network WHERE rowid IN (SELECT rowid FROM known_network WHERE expiresTime <= @time LIMIT @most)',
  );
  const lastOf = db
    .prepare<{ after: number; most: number }, number | null>(
      'SELECT max(token) FROM (SELECT token FROM token WHERE token > @after ORDER BY token LIMIT @most)',
    )
    .pluck();
  // The number of a deleted token must not be reused.
  const reserveNumber = db.prepare<[number]>('UPDATE position SET lastToken = max(lastToken, ?)');
  const removeSessions = db.prepare<{ after: number; last: number; ended: number }>(`
    DELETE FROM token AS t
    WHERE t.token > @after AND t.token <= @last AND t.session AND coalesce(t.revokedTime, t.expiresTime) <= @ended
      AND NOT (${isNewest}) AND ${unreferenced.join(' AND ')}`);

  return {
    deleteExpired({ time, after, most }: RequestOf<'deleteExpired'>): { deleted: number; next: number | null } {
      const changes = [removeLinks, removeNetworks].map((remove) => remove.run({ time, most }).changes);
      const others = changes.reduce((sum, count) => sum + count);
      const last = lastOf.get({ after, most }) ?? null;
      if (last === null) return { deleted: others, next: Math.max(...changes) < most ? null : after };
      const sessions = removeSessions.run({ after, last, ended: time - listedMilliseconds }).changes;
      if (sessions > 0) reserveNumber.run(last);
      return { deleted: others + sessions, next: last };
    },
  };
};
