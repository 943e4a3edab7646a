/** Deletes share links, known networks and sessions of the console that have ended, some in each transaction. */
import { listedMilliseconds } from '../../rules/accounts/ended-sessions.ts';
import type { RequestOf } from '../../store.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** What names a token, beside the tables of accounts. A session that none of them names may go. */
const namings = [
  ['token', 'createdBy'],
  ['member', 'invitedBy'],
  ['share_link', 'createdBy'],
].map(([table, column]) => `NOT EXISTS (SELECT 1 FROM ${table} n WHERE n."${column}" = t.token)`);

const isNewest = `t."createdBy" IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM token n WHERE n."createdBy" = t."createdBy" AND n.session AND n.token > t.token)`;

/** The tables of accounts that name tokens of their own account; they are not joined with `token`, which a cluster has elsewhere. */
const ofAccounts = ['statement', 'refused_request', 'refused_count'];

/** Returns those of the tokens that tables of accounts name. An operator's session may be named by audit entries of any account. */
const namedAmong = async (
  db: Transaction,
  ended: readonly { readonly token: number; readonly account: number | null }[],
): Promise<Set<number>> => {
  const tokens = ended.map(({ token }) => token);
  const accounts = [...new Set(ended.map(({ account }) => account).filter((account) => account !== null))];
  const rows = await Promise.all([
    db.all<{ token: number }>('SELECT DISTINCT token FROM audit WHERE account >= 0 AND token = ANY ($1::integer[])', [
      tokens,
    ]),
    ...ofAccounts.map((table) =>
      db.all<{ token: number }>(
        `SELECT DISTINCT token FROM ${table} WHERE account = ANY ($1::integer[]) AND token = ANY ($2::integer[])`,
        [accounts, tokens],
      ),
    ),
  ]);
  return new Set(rows.flat().map(({ token }) => token));
};

export const deleteEnded = async (
  db: Transaction,
  { time, after, most }: RequestOf<'deleteEnded'>,
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
       AND NOT (${isNewest}) AND ${namings.join(' AND ')}`,
    [after, last, time - listedMilliseconds],
  );
  if (ended.length === 0) return { deleted: others, next: last };
  const named = await namedAmong(db, ended);
  const sessions = await db.run('DELETE FROM token WHERE token = ANY ($1::integer[])', [
    ended.map(({ token }) => token).filter((token) => !named.has(token)),
  ]);
  return { deleted: others + sessions, next: last };
};
