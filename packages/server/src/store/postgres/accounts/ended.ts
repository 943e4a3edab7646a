/** Deletes share links and sessions of the console that have ended, some in each transaction. */
import { listedMilliseconds } from '../../rules/accounts/views.ts';
import type { RequestOf } from '../../store.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** What names a token. A session that none of them names may go. */
const namings = [
  ['audit', 'token'],
  ['statement', 'token'],
  ['token', 'createdBy'],
  ['member', 'invitedBy'],
  ['share_link', 'createdBy'],
  ['refused_request', 'token'],
  ['refused_count', 'token'],
].map(([table, column]) => {
  // An operator's session may be named by entries of any account; other tables name the tokens of their own.
  const ofAccount = table === 'statement' || table?.startsWith('refused') ? 'n.account = t.account AND ' : '';
  return `NOT EXISTS (SELECT 1 FROM ${table} n WHERE ${ofAccount}n."${column}" = t.token)`;
});

const isNewest = `t."createdBy" IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM token n WHERE n."createdBy" = t."createdBy" AND n.session AND n.token > t.token)`;

export const deleteEnded = async (
  db: Transaction,
  { time, after, most }: RequestOf<'deleteEnded'>,
): Promise<{ deleted: number; next: number | null }> => {
  const links = await db.run(
    `DELETE FROM share_link WHERE "shareID" IN (
       SELECT "shareID" FROM share_link WHERE "expiresTime" <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [time, most],
  );
  const { last } = await db.one<{ last: number | null }>(
    'SELECT max(token) AS last FROM (SELECT token FROM token WHERE token > $1 ORDER BY token LIMIT $2) next',
    [after, most],
  );
  if (last === null) return { deleted: links, next: links < most ? null : after };
  const sessions = await db.run(
    `DELETE FROM token t
     WHERE t.token > $1 AND t.token <= $2 AND t.session AND coalesce(t."revokedTime", t."expiresTime") <= $3
       AND NOT (${isNewest}) AND ${namings.join(' AND ')}`,
    [after, last, time - listedMilliseconds],
  );
  return { deleted: links + sessions, next: last };
};
