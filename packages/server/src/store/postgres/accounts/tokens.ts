/** Tokens: creates, revokes and lists them. */
import { Refusal } from '../../../shared/refusal.ts';
import { accessName, isMembers, type MemberAccess } from '../../rules/accounts/members.ts';
import type { ListedToken, RequestOf, RevokedWithMember, Store, TokenDetail } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { notifyAccess } from './access.ts';

/** A session may do what the token may that made it. */
const kind = 'coalesce((SELECT m.kind FROM token m WHERE t.session AND m.token = t."createdBy"), t.kind)';
const columns = `t."tokenID", ${kind} AS kind, t."tokenName", t.text, t."createdTime",
  (SELECT "tokenID" FROM token WHERE token = t."createdBy") AS "createdBy", t."expiresTime", t.session, t."memberID", t."lastUsedTime", t."revokedTime"`;

/** Sessions that ended more than a day ago are of no use to anybody, and there may be many. */
const isOfUse = `(NOT t.session OR coalesce(t."revokedTime", t."expiresTime", 9e15) > (extract(epoch FROM now()) - 86400) * 1000)`;

export const tokensOf = (db: Connection, account: number): Promise<TokenDetail[]> =>
  db.all<TokenDetail>(`SELECT ${columns} FROM token t WHERE t.account = $1 AND ${isOfUse} ORDER BY t.token`, [account]);

export const listTokens = (db: Connection, { account }: RequestOf<'listTokens'>): Promise<ListedToken[]> =>
  db.all<ListedToken>(
    `SELECT ${columns}, t.token, a."accountUUID", a."accountName"
     FROM token t LEFT JOIN account a ON a.account = t.account
     WHERE ($1::integer IS NULL OR t.account = $1) AND ${isOfUse} ORDER BY t.account NULLS FIRST, t.token`,
    [account],
  );

export const findProofKeys = async (
  db: Connection,
  { account, time }: RequestOf<'findProofKeys'>,
): Promise<Uint8Array[]> => {
  const rows = await db.all<{ hash: string }>(
    `SELECT hash FROM token
     WHERE account = $1 AND kind = 'server' AND NOT session AND "memberID" IS NULL AND "revokedTime" IS NULL AND ("expiresTime" IS NULL OR $2 < "expiresTime")`,
    [account, time],
  );
  return rows.map(({ hash }) => Uint8Array.from(Buffer.from(hash, 'hex')));
};

/** Throws a Refusal unless the token that creates another is live. Locks it, so that it stays live until the transaction ends. */
export const holdMaker = async (db: Transaction, createdBy: number, time: number): Promise<void> => {
  const maker = await db.get(
    `SELECT 1 FROM token t
     WHERE token = $1 AND "revokedTime" IS NULL AND ("expiresTime" IS NULL OR $2 < "expiresTime")
       AND NOT EXISTS (SELECT 1 FROM token m WHERE t.session AND m.token = t."createdBy" AND m."revokedTime" IS NOT NULL)
     FOR SHARE`,
    [createdBy, time],
  );
  if (!maker) throw new Refusal('invalid_token', { field: 'tokenUUID' });
};

export const createToken = async (db: Transaction, token: RequestOf<'createToken'>): Promise<void> => {
  const { tokenID, account, kind, tokenName, hash, text, time, createdBy = null, expiresTime, session = false } = token;
  if (createdBy !== null) await holdMaker(db, createdBy, time);
  const made = await db.run(
    `INSERT INTO token ("tokenID", account, kind, "tokenName", hash, text, "createdTime", "createdBy", "expiresTime", session, "memberID")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $10 THEN (SELECT "memberID" FROM token WHERE token = $8) END)
     ON CONFLICT (hash) DO NOTHING`,
    [tokenID, account, kind, tokenName, hash, text, time, createdBy, expiresTime, session],
  );
  if (made === 0) throw new Refusal('invalid_token', { message: 'there is or was such a token: choose another' });
};

/** Creates the access of a member; who invited the member counts as its maker. */
export const createAccess = async (
  db: Transaction,
  { tokenID, account, kind, hash, time, createdBy, memberID }: MemberAccess,
): Promise<number> => {
  const { token } = await db.one<{ token: number }>(
    `INSERT INTO token ("tokenID", account, kind, "tokenName", hash, "createdTime", "createdBy", "memberID")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING token`,
    [tokenID, account, kind, accessName, hash, time, createdBy, memberID],
  );
  return token;
};

/** The tokens that a token or a member made, directly or not: SQL for a table `made`, and its parameters. */
interface Made {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** A condition of the tokens that may be revoked. */
  readonly revocable: string;
}

// UNION visits no token twice. Revoked tokens are followed too: the tokens that they made may be live.
const madeByToken = (token: number): Made => ({
  sql: `made (token) AS (
    SELECT $1::integer UNION SELECT t.token FROM made JOIN token t ON t."createdBy" = made.token)`,
  values: [token],
  revocable: 'true',
});
// Begins with the sessions of the member. Other members whom the member invited stay, with all that they made.
const madeByMember = (account: number, memberID: string): Made => ({
  sql: `made (token) AS (
    SELECT token FROM token WHERE account = $1 AND "memberID" = $2
    UNION SELECT t.token FROM made JOIN token t ON t."createdBy" = made.token WHERE coalesce(t."memberID", $2) = $2)`,
  values: [account, memberID],
  // Pages have the others.
  revocable: "kind <> 'browser'",
});

/**
 * Revokes the live ones of tokens. Repeats until none is left: the statement may wait for the row of a token that is creating another
 * (see holdMaker), and only the next statement sees the new token.
 */
const revokeAll = async (
  db: Transaction,
  { sql, values, revocable }: Made,
  time: number,
): Promise<{ tokenID: string; memberID: string | null }[]> => {
  const revoked: { tokenID: string; memberID: string | null }[] = [];
  for (;;) {
    const rows = await db.all<{ tokenID: string; memberID: string | null }>(
      `WITH RECURSIVE ${sql}
       UPDATE token SET "revokedTime" = $${values.length + 1}
       WHERE "revokedTime" IS NULL AND ${revocable} AND token IN (SELECT token FROM made)
       RETURNING "tokenID", "memberID"`,
      [...values, time],
    );
    if (rows.length === 0) return revoked;
    revoked.push(...rows);
  }
};

/** Ends the open invitations that tokens made. */
const endInvitations = (db: Transaction, { sql, values }: Made): Promise<number> =>
  db.run(
    `WITH RECURSIVE ${sql}
     UPDATE member SET invitation = NULL, "invitationExpiresTime" = NULL
     WHERE invitation IS NOT NULL AND "invitedBy" IN (SELECT token FROM made)`,
    [...values],
  );

/** Deletes the share links that tokens made, and returns their shareIDs. */
const endShareLinks = async (db: Transaction, { sql, values }: Made): Promise<string[]> => {
  const rows = await db.all<{ shareID: string }>(
    `WITH RECURSIVE ${sql} DELETE FROM share_link WHERE "createdBy" IN (SELECT token FROM made) RETURNING "shareID"`,
    [...values],
  );
  return rows.map(({ shareID }) => shareID);
};

export const revokeToken = async (
  db: Transaction,
  { account, tokenID, descendants = false, time }: RequestOf<'revokeToken'>,
): ReturnType<Store['revokeToken']> => {
  const access = await db.get(
    `SELECT 1 FROM token WHERE "tokenID" = $1 AND account IS NOT DISTINCT FROM $2 AND "memberID" IS NOT NULL AND NOT session`,
    [tokenID, account],
  );
  if (access) throw isMembers();
  const row = await db.get<{ token: number; revokedTime: number }>(
    `UPDATE token SET "revokedTime" = coalesce("revokedTime", $3)
     WHERE "tokenID" = $1 AND account IS NOT DISTINCT FROM $2 RETURNING token, "revokedTime"`,
    [tokenID, account, time],
  );
  if (!row) throw new Refusal('unknown_token', { field: 'tokenID' });
  const made = madeByToken(row.token);
  const revoked = descendants ? await revokeAll(db, made, time) : [];
  if (descendants) await endInvitations(db, made);
  if (descendants) await endShareLinks(db, made);
  await notifyAccess(db);
  return { revokedTime: row.revokedTime, descendants: revoked.map(({ tokenID }) => tokenID) };
};

/** Revokes the secret tokens that a member made, directly or not, and ends the share links and open invitations. */
export const revokeMadeBy = async (
  db: Transaction,
  { account, memberID, time }: { account: number; memberID: string; time: number },
): Promise<RevokedWithMember> => {
  const made = madeByMember(account, memberID);
  const revoked = await revokeAll(db, made, time);
  await endInvitations(db, made);
  const shareLinks = await endShareLinks(db, made);
  await notifyAccess(db);
  return { shareLinks, tokens: revoked.filter((token) => token.memberID === null).map(({ tokenID }) => tokenID) };
};

/** Updates tokens in ascending order, so that no two servers wait for each other. */
export const noteTokenUses = async (db: Transaction, { uses }: RequestOf<'noteTokenUses'>): Promise<void> => {
  for (const [token, time] of [...uses].sort(([a], [b]) => a - b)) {
    await db.run('UPDATE token SET "lastUsedTime" = $2 WHERE token = $1 AND coalesce("lastUsedTime", 0) < $2', [
      token,
      time,
    ]);
  }
};
