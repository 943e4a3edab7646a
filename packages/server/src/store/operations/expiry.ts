/**
 * Deletes old facts, and share links, known networks and console sessions that have ended, a limited number of rows per
 * transaction.
 */
import { dayMilliseconds } from '../../shared/time.ts';
import type { RequestOf } from '../store.ts';
import { deleteOldFacts, factRetentionDays } from './facts.ts';
import { all, createQuery, first, type Operation, run, together } from './operation.ts';

/** How long a console session is listed after it ends. */
export const endedSessionRetentionMilliseconds = dayMilliseconds;

/** SQL for up to `$2` rows whose expiresTime is at most `$1`, except those that another transaction has locked. */
const deleteEnded = (table: string, key: string) =>
  createQuery<never>(
    ({ name }) => `
      DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${table} WHERE "expiresTime" <= $1 LIMIT $2
        ${name === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''})`,
  );
const deleteShareLinks = deleteEnded('share_link', '"shareID"');
const deleteNetworks = deleteEnded('known_network', '"memberID", network');

const selectLast = createQuery<{ last: number | null }>(
  () => 'SELECT max(token) AS last FROM (SELECT token FROM token WHERE token > $1 ORDER BY token LIMIT $2) AS next',
);

const hasNo = (table: string, column: string) => `NOT EXISTS (SELECT 1 FROM ${table} n WHERE n."${column}" = t.token)`;

/** Selects ended sessions, except each creator's newest session. */
const selectEnded = createQuery<{ token: number; account: number | null }>(
  ({ name }) => `
    SELECT token, account FROM token t
    WHERE t.token > $1 AND t.token <= $2 AND t.session AND coalesce(t."revokedTime", t."expiresTime") <= $3
      AND (t."createdBy" IS NULL OR EXISTS (
        SELECT 1 FROM token n WHERE n."createdBy" = t."createdBy" AND n.session AND n.token > t.token))
      AND ${hasNo('token', 'createdBy')} AND ${hasNo('member', 'invitedBy')} AND ${hasNo('share_link', 'createdBy')}
      AND ${hasNo('webhook', 'createdBy')}
      ${name === 'sqlite' ? `AND ${hasNo('claim', 'token')}` : ''}`,
);

/** Selects the tokens that any account's audit entries refer to, such as an operator's session. */
const selectAudited = createQuery<{ token: number }>(
  ({ among }) => `SELECT DISTINCT token FROM audit WHERE token ${among('$1', 'integer')}`,
);

/**
 * Finds the tokens among `$1` that other account tables refer to. Separate queries, because a cluster cannot join these
 * tables with `token`.
 */
const selectReferences = ['statement', 'refused_request', 'refused_count'].map((table) =>
  createQuery<{ token: number }>(
    ({ name, among }) => `
      SELECT DISTINCT token FROM ${table}
      WHERE ${name === 'postgres' ? 'account = ANY ($2::integer[]) AND' : ''} token ${among('$1', 'integer')}`,
  ),
);

const deleteTokens = createQuery<never>(({ among }) => `DELETE FROM token WHERE token ${among('$1', 'integer')}`);

/**
 * Deletes the ended sessions that nothing refers to. Other sessions stay, because SQLite would reuse their row numbers.
 */
function* deleteSessions(after: number, last: number, ended: number): Operation<number> {
  const sessions = yield* all(selectEnded(after, last, ended));
  if (sessions.length === 0) return 0;
  const tokens = sessions.map(({ token }) => token);
  const accounts = [...new Set(sessions.flatMap(({ account }) => account ?? []))];
  const rows = yield* together(
    all(selectAudited(tokens)),
    ...selectReferences.map((select) => all(select(tokens, accounts))),
  );
  const referenced = new Set(rows.flat().map(({ token }) => token));
  yield { sqlite: 'UPDATE position SET lastToken = max(lastToken, $1)', values: [last] };
  return yield* run(deleteTokens(tokens.filter((token) => !referenced.has(token))));
}

export function* deleteExpired(
  request: RequestOf<'deleteExpired'>,
): Operation<{ deleted: number; next: number | null }> {
  const { time, after, limit } = request;
  const links = yield* run(deleteShareLinks(time, limit));
  const networks = yield* run(deleteNetworks(time, limit));
  const facts = yield* run(deleteOldFacts(time - factRetentionDays * dayMilliseconds, limit));
  const others = links + networks + facts;
  const { last = null } = (yield* first(selectLast(after, limit))) ?? {};
  if (last === null) return { deleted: others, next: Math.max(links, networks, facts) < limit ? null : after };
  const sessions = yield* deleteSessions(after, last, time - endedSessionRetentionMilliseconds);
  return { deleted: others + sessions, next: last };
}
