import { Refusal } from '../../../shared/refusal.ts';
import { accessName, isMembers, type MemberAccess } from '../../rules/accounts/members.ts';
import type { ListedToken, RequestOf, RevokedWithMember, TokenDetail } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

/** A session may do what the token may that made it. */
const kind = 'coalesce((SELECT m.kind FROM token m WHERE t.session AND m.token = t.createdBy), t.kind)';
const columns = `t.tokenID, ${kind} AS kind, t.tokenName, t.text, t.createdTime,
  (SELECT tokenID FROM token WHERE token = t.createdBy) AS createdBy, t.expiresTime, t.session, t.memberID, t.lastUsedTime, t.revokedTime`;

/** Sessions that ended more than a day ago are of no use to anybody, and there may be many. */
const isOfUse = `(NOT t.session OR coalesce(t.revokedTime, t.expiresTime, 9e15) > (unixepoch() - 86400) * 1000)`;

type Row<Token> = Omit<Token, 'session'> & { readonly session: number };

const toToken = <Token extends TokenDetail>(row: Row<Token>): Token =>
  ({ ...row, session: row.session === 1 }) as Token;

export const createTokenReader = (db: Connection) => {
  const ofAccount = db.prepare<[number], Row<TokenDetail>>(
    `SELECT ${columns} FROM token t WHERE t.account = ? AND ${isOfUse} ORDER BY t.token`,
  );
  const list = db.prepare<RequestOf<'listTokens'>, Row<ListedToken>>(`
    SELECT ${columns}, t.token, a.accountUUID, a.accountName FROM token t LEFT JOIN account a ON a.account = t.account
    WHERE (@account IS NULL OR t.account = @account) AND ${isOfUse} ORDER BY t.account, t.token`);
  const proofKeys = db
    .prepare<RequestOf<'findProofKeys'>, string>(`
      SELECT hash FROM token
      WHERE account = @account AND kind = 'server' AND NOT session AND memberID IS NULL AND revokedTime IS NULL AND (expiresTime IS NULL OR @time < expiresTime)`)
    .pluck();

  return {
    tokensOf: (account: number): TokenDetail[] => ofAccount.all(account).map(toToken),
    listTokens: ({ account }: RequestOf<'listTokens'>): ListedToken[] => list.all({ account }).map(toToken),
    findProofKeys: (request: RequestOf<'findProofKeys'>): Uint8Array[] =>
      proofKeys.all(request).map((hash) => Uint8Array.from(Buffer.from(hash, 'hex'))),
  };
};
export type TokenReader = ReturnType<typeof createTokenReader>;

export const createTokenWriter = (db: Connection) => {
  const maker = db
    .prepare<[number, number], number>(
      `SELECT 1 FROM token t LEFT JOIN token m ON t.session AND m.token = t.createdBy
      WHERE t.token = ? AND t.revokedTime IS NULL AND m.revokedTime IS NULL AND (t.expiresTime IS NULL OR ? < t.expiresTime)`,
    )
    .pluck();
  const insert = db.prepare(`
    INSERT INTO token (token, tokenID, account, kind, tokenName, hash, text, createdTime, createdBy, expiresTime, session, memberID)
    VALUES ((SELECT max(coalesce(max(token), 0), (SELECT lastToken FROM position)) + 1 FROM token),
      @tokenID, @account, @kind, @tokenName, @hash, @text, @time, @createdBy, @expiresTime, @session,
      CASE WHEN @session THEN (SELECT memberID FROM token WHERE token = @createdBy) END)
    ON CONFLICT (hash) DO NOTHING`);
  const isAccess = db
    .prepare<{ tokenID: string; account: number | null }, number>(
      'SELECT 1 FROM token WHERE tokenID = @tokenID AND account IS @account AND memberID IS NOT NULL AND NOT session',
    )
    .pluck();
  const insertAccess = db.prepare<unknown[], { token: number }>(`
    INSERT INTO token (token, tokenID, account, kind, tokenName, hash, createdTime, createdBy, memberID)
    VALUES ((SELECT max(coalesce(max(token), 0), (SELECT lastToken FROM position)) + 1 FROM token),
      @tokenID, @account, @kind, @tokenName, @hash, @time, @createdBy, @memberID)
    RETURNING token`);
  // UNION visits no token twice. Revoked tokens are followed too: the tokens that they made may be live.
  const madeByToken =
    'made (token) AS (SELECT @token UNION SELECT t.token FROM made JOIN token t ON t.createdBy = made.token)';
  // Other members whom the member invited stay, with all that they made.
  const madeByMember = `made (token) AS (
    SELECT token FROM token WHERE account = @account AND memberID = @memberID
    UNION SELECT t.token FROM made JOIN token t ON t.createdBy = made.token WHERE coalesce(t.memberID, @memberID) = @memberID)`;
  const ending = (made: string, revocable: string) => ({
    tokens: db.prepare<Record<string, unknown>, { tokenID: string; memberID: string | null }>(`
      WITH RECURSIVE ${made}
      UPDATE token SET revokedTime = @time WHERE revokedTime IS NULL AND ${revocable} AND token IN (SELECT token FROM made)
      RETURNING tokenID, memberID`),
    invitations: db.prepare<Record<string, unknown>>(`
      WITH RECURSIVE ${made} UPDATE member SET invitation = NULL, invitationExpiresTime = NULL
      WHERE invitation IS NOT NULL AND invitedBy IN (SELECT token FROM made)`),
    shareLinks: db
      .prepare<Record<string, unknown>, string>(`
        WITH RECURSIVE ${made} DELETE FROM share_link WHERE createdBy IN (SELECT token FROM made) RETURNING shareID`)
      .pluck(),
  });
  const endOfToken = ending(madeByToken, 'true');
  // Pages have the browser tokens.
  const endOfMember = ending(madeByMember, "kind <> 'browser'");

  /** Revokes what was made, and ends the open invitations and share links. */
  const endMade = (made: ReturnType<typeof ending>, values: Record<string, unknown>, time: number) => {
    made.invitations.run(values);
    return { shareLinks: made.shareLinks.all(values), tokens: made.tokens.all({ ...values, time }) };
  };
  const revoke = db.prepare<unknown[], { token: number; revokedTime: number }>(`
    UPDATE token SET revokedTime = coalesce(revokedTime, @time)
    WHERE tokenID = @tokenID AND account IS @account RETURNING token, revokedTime`);
  const use = db.prepare<{ token: number; time: number }>(
    'UPDATE token SET lastUsedTime = @time WHERE token = @token AND coalesce(lastUsedTime, 0) < @time',
  );

  /** Throws a Refusal unless this token is live: it may have been revoked since the request was authenticated. */
  const checkMaker = (token: number, time: number): void => {
    if (maker.get(token, time) === undefined) throw new Refusal('invalid_token', { field: 'tokenUUID' });
  };

  return {
    checkMaker,

    createToken({ createdBy = null, expiresTime = null, session = false, ...token }: RequestOf<'createToken'>) {
      if (createdBy !== null) checkMaker(createdBy, token.time);
      if (insert.run({ createdBy, expiresTime, session: session ? 1 : 0, ...token }).changes === 0) {
        throw new Refusal('invalid_token', { message: 'there is or was such a token: choose another' });
      }
    },

    /** Creates the access of a member; who invited the member counts as its maker. */
    createAccess(access: MemberAccess): number {
      const { token } = insertAccess.get({ ...access, tokenName: accessName }) as { token: number };
      return token;
    },

    revokeToken({ account, tokenID, descendants = false, time }: RequestOf<'revokeToken'>) {
      if (isAccess.get({ tokenID, account }) !== undefined) throw isMembers();
      const revoked = revoke.get({ account, tokenID, time });
      if (revoked === undefined) throw new Refusal('unknown_token', { field: 'tokenID' });
      const { token, revokedTime } = revoked;
      const made = descendants ? endMade(endOfToken, { token }, time).tokens : [];
      return { revokedTime, descendants: made.map((each) => each.tokenID) };
    },

    /** Revokes the secret tokens that a member made, directly or not, and ends the share links and open invitations. */
    revokeMadeBy({ account, memberID, time }: { account: number; memberID: string; time: number }): RevokedWithMember {
      const { shareLinks, tokens } = endMade(endOfMember, { account, memberID }, time);
      return { shareLinks, tokens: tokens.filter((each) => each.memberID === null).map(({ tokenID }) => tokenID) };
    },

    noteTokenUses({ uses }: RequestOf<'noteTokenUses'>): void {
      for (const [token, time] of uses) use.run({ token, time });
    },
  };
};
export type TokenWriter = ReturnType<typeof createTokenWriter>;
