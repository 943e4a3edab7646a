/** Tokens: creates, revokes and lists them. */
import { Refusal } from '../../../refusal.ts';
import { accessName, isMembers, type MemberAccess } from '../../rules/accounts/members.ts';
import type { ListedToken, RequestOf, Store, TokenDetail } from '../../store.ts';
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

/**
 * Revokes the live tokens that a token created, directly or not. Repeats until none is left: the statement may wait for the row
 * of a token that is creating another (see holdMaker), and only the next statement sees the new token.
 */
const revokeDescendants = async (db: Transaction, token: number, time: number): Promise<string[]> => {
  const revoked: string[] = [];
  for (;;) {
    const rows = await db.all<{ tokenID: string }>(
      `WITH RECURSIVE made (token) AS (
         SELECT token FROM token WHERE "createdBy" = $1
         UNION SELECT t.token FROM made JOIN token t ON t."createdBy" = made.token)
       UPDATE token SET "revokedTime" = $2 WHERE "revokedTime" IS NULL AND token IN (SELECT token FROM made)
       RETURNING "tokenID"`,
      [token, time],
    );
    if (rows.length === 0) return revoked;
    revoked.push(...rows.map(({ tokenID }) => tokenID));
  }
};

/** Ends the open invitations that a token made, or a token that it created, directly or not. */
const endInvitations = (db: Transaction, token: number): Promise<number> =>
  db.run(
    `WITH RECURSIVE made (token) AS (
       SELECT $1::integer UNION SELECT t.token FROM made JOIN token t ON t."createdBy" = made.token)
     UPDATE member SET invitation = NULL, "invitationExpiresTime" = NULL
     WHERE invitation IS NOT NULL AND "invitedBy" IN (SELECT token FROM made)`,
    [token],
  );

/** Deletes the share links that a token made, or a token that it created, directly or not. */
const endShareLinks = (db: Transaction, token: number): Promise<number> =>
  db.run(
    `WITH RECURSIVE made (token) AS (
       SELECT $1::integer UNION SELECT t.token FROM made JOIN token t ON t."createdBy" = made.token)
     DELETE FROM share_link WHERE "createdBy" IN (SELECT token FROM made)`,
    [token],
  );

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
  const revoked = descendants ? await revokeDescendants(db, row.token, time) : [];
  if (descendants) await endInvitations(db, row.token);
  if (descendants) await endShareLinks(db, row.token);
  await notifyAccess(db);
  return { revokedTime: row.revokedTime, descendants: revoked };
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
