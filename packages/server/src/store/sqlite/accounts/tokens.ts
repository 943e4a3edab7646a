import { Refusal } from '../../../refusal.ts';
import type { ListedToken, RequestOf, TokenDetail } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

const columns = `t.tokenID, t.kind, t.tokenName, t.text, t.createdTime,
  (SELECT tokenID FROM token WHERE token = t.createdBy) AS createdBy, t.expiresTime, t.session,
  (SELECT memberID FROM member WHERE token IN (t.token, t.createdBy)) AS memberID, t.lastUsedTime, t.revokedTime`;

type Row<Token> = Omit<Token, 'session'> & { readonly session: number };

const toToken = <Token extends TokenDetail>(row: Row<Token>): Token =>
  ({ ...row, session: row.session === 1 }) as Token;

export const createTokenReader = (db: Connection) => {
  const ofAccount = db.prepare<[number], Row<TokenDetail>>(
    `SELECT ${columns} FROM token t WHERE t.account = ? ORDER BY t.token`,
  );
  const list = db.prepare<RequestOf<'listTokens'>, Row<ListedToken>>(`
    SELECT ${columns}, t.token, a.accountUUID, a.accountName FROM token t LEFT JOIN account a ON a.account = t.account
    WHERE @account IS NULL OR t.account = @account ORDER BY t.account, t.token`);
  const proofKeys = db
    .prepare<RequestOf<'findProofKeys'>, string>(`
      SELECT hash FROM token
      WHERE account = @account AND kind = 'server' AND NOT session AND revokedTime IS NULL AND (expiresTime IS NULL OR @time < expiresTime)`)
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
    INSERT INTO token (token, tokenID, account, kind, tokenName, hash, text, createdTime, createdBy, expiresTime, session)
    VALUES ((SELECT max(coalesce(max(token), 0), (SELECT lastToken FROM position)) + 1 FROM token),
      @tokenID, @account, @kind, @tokenName, @hash, @text, @time, @createdBy, @expiresTime, @session)
    ON CONFLICT (hash) DO NOTHING`);
  const revoke = db.prepare<unknown[], { token: number; revokedTime: number }>(`
    UPDATE token SET revokedTime = coalesce(revokedTime, @time)
    WHERE tokenID = @tokenID AND account IS @account RETURNING token, revokedTime`);
  // UNION visits no token twice. Revoked tokens are followed too: the tokens that they made may be live.
  const revokeDescendants = db
    .prepare<{ token: number; time: number }, string>(`
      WITH RECURSIVE made (token) AS (
        SELECT token FROM token WHERE createdBy = @token
        UNION SELECT t.token FROM made JOIN token t ON t.createdBy = made.token)
      UPDATE token SET revokedTime = @time WHERE revokedTime IS NULL AND token IN (SELECT token FROM made)
      RETURNING tokenID`)
    .pluck();
  const use = db.prepare<{ token: number; time: number }>(
    'UPDATE token SET lastUsedTime = @time WHERE token = @token AND coalesce(lastUsedTime, 0) < @time',
  );

  return {
    createToken({ createdBy = null, expiresTime = null, session = false, ...token }: RequestOf<'createToken'>) {
      // The maker may have been revoked since the request was authenticated.
      if (createdBy !== null && maker.get(createdBy, token.time) === undefined) {
        throw new Refusal('invalid_token', { field: 'tokenUUID' });
      }
      if (insert.run({ createdBy, expiresTime, session: session ? 1 : 0, ...token }).changes === 0) {
        throw new Refusal('invalid_token', { message: 'there is or was such a token: choose another' });
      }
    },

    revokeToken({ account, tokenID, descendants = false, time }: RequestOf<'revokeToken'>) {
      const revoked = revoke.get({ account, tokenID, time });
      if (revoked === undefined) throw new Refusal('unknown_token', { field: 'tokenID' });
      const { token, revokedTime } = revoked;
      return { revokedTime, descendants: descendants ? revokeDescendants.all({ token, time }) : [] };
    },

    noteTokenUses({ uses }: RequestOf<'noteTokenUses'>): void {
      for (const [token, time] of uses) use.run({ token, time });
    },
  };
};
export type TokenWriter = ReturnType<typeof createTokenWriter>;
