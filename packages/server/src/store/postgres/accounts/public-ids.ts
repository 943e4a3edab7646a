/**
 * Looks up the public IDs of accounts and tokens by number. On a Citus cluster these IDs are in tables on the
 * coordinator, which are not joined with account tables.
 */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { distinct } from '../../../shared/distinct.ts';
import type { Connection } from '../database/connection.ts';

export const accountUUIDsOf = async (db: Connection, accounts: readonly number[]): Promise<Map<number, string>> => {
  if (accounts.length === 0) return new Map();
  const rows = await db.all<{ account: number; accountUUID: string }>(
    'SELECT account, "accountUUID" FROM account WHERE account = ANY ($1::integer[])',
    [distinct(accounts)],
  );
  return new Map(rows.map(({ account, accountUUID }) => [account, accountUUID]));
};

interface TokenIDs {
  readonly token: number;
  readonly tokenID: string;
  readonly tokenKind: TokenKind;
  readonly tokenText: string | null;
  readonly memberID: string | null;
}

/** Null means no token. */
export const tokenIDsOf = async (
  db: Connection,
  tokens: readonly (number | null)[],
): Promise<Map<number, TokenIDs>> => {
  if (tokens.length === 0) return new Map();
  const rows = await db.all<TokenIDs>(
    `SELECT token, "tokenID", kind AS "tokenKind", text AS "tokenText", "memberID" FROM token WHERE token = ANY ($1::integer[])`,
    [distinct(tokens.filter((token) => token !== null))],
  );
  return new Map(rows.map((row) => [row.token, row]));
};
