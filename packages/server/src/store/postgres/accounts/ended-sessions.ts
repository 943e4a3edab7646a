/** Deletes ended share links, known networks and console sessions, a limited number per transaction. */
import { listedMilliseconds } from '../../rules/accounts/expired-sessions.ts';
import type { RequestOf } from '../../store.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** References to tokens from the coordinator's tables. A session without references may be deleted. */
const references = [
  ['token', 'createdBy'],
  ['member', 'invitedBy'],
  ['share_link', 'createdBy'],
].map(([table, column]) => `NOT EXISTS (SELECT 1 FROM ${table} n WHERE n."${column}" = t.token)`);

const isNewest = `t."createdBy" IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM token n WHERE n."createdBy" = t."createdBy" AND n.session AND n.token > t.token)`;

/**
 * Account tables with references to tokens of their account. They are not joined with `token`, which is on the
 * coordinator.
 */
const referencingTables = ['statement', 'refused_request', 'refused_count'];

/** Returns the tokens that account tables refer to. Audit entries of any account may refer to an operator's session. */
const findReferenced = async (
  db: Transaction,
  ended: readonly { readonly token: number; readonly account: number | null }[],
): Promise<Set<number>> => {
  const tokens = ended.map(({ token }) => token);
  const accounts = [...new Set(ended.map(({ account }) => account).filter((account) => account !== null))];
  const rows = await Promise.all([
    db.all<{ token: number }>('SELECT DISTINCT token FROM audit WHERE account >= 0 AND token = ANY ($1::integer[])', [
      tokens,
    ]),
    ...referencingTables.map((table) =>
      db.all<{ token: number }>(
        `SELECT DISTINCT token FROM ${table} WHERE account = ANY ($1::integer[]) AND token = ANY ($2::integer[])`,
        [accounts, tokens],
      ),
    ),
  ]);
  return new Set(rows.flat().map(({ token }) => token));
};

export const deleteExpired = async (
  db: Transaction,
  { time, after, most }: RequestOf<'deleteExpired'>,
): Promise<{ deleted: number; next: number | null }> => {
  const links = await db.run(
    `DELETE FROM share_link WHERE "shareID" IN (
       SELECT "shareID" FROM share_link WHERE "expiresTime" <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [time, most],
  );
  const networks = await db.run(
    `DELETE FROM known_network WHERE ("memberID", network) IN (
       SELECT "memberID", network FROM known_network WHERE "expiresTime" <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [time, most],
  );
  const others = links + networks;
  const { last } = await db.one<{ last: number | null }>(
    'SELECT max(token) AS last FROM (SELECT token FROM token WHERE token > $1 ORDER BY token LIMIT $2) next',
    [after, most],
  );
  if (last === null) return { deleted: others, next: Math.max(links, networks) < most ? null : after };
  const ended = await db.all<{ token: number; account: number | null }>(
    `SELECT token, account FROM token t
     WHERE t.token > $1 AND t.token <= $2 AND t.session AND coalesce(t."revokedTime", t."expiresTime") <= $3
       AND NOT (${isNewest}) AND ${references.join(' AND ')}`,
    [after, last, time - listedMilliseconds],
  );
  if (ended.length === 0) return { deleted: others, next: last };
  const referenced = await findReferenced(db, ended);
  const sessions = await db.run('DELETE FROM token WHERE token = ANY ($1::integer[])', [
    ended.map(({ token }) => token).filter((token) => !referenced.has(token)),
  ]);
  return { deleted: others + sessions, next: last };
};
