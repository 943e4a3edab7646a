/**
 * Looks up the public IDs of accounts and tokens by number. On a Citus cluster these IDs are in tables on the
 * coordinator, which are not joined with account tables.
 */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { distinct } from '../../shared/distinct.ts';
import { all, createQuery, type Operation } from './operation.ts';

const selectAccounts = createQuery<{ account: number; accountUUID: string }>(
  ({ among }) => `SELECT account, "accountUUID" FROM account WHERE account ${among('$1', 'integer')}`,
);

export function* accountUUIDsOf(accounts: readonly (number | null)[]): Operation<Map<number | null, string>> {
  if (accounts.length === 0) return new Map();
  const rows = yield* all(selectAccounts(distinct(accounts)));
  return new Map(rows.map(({ account, accountUUID }) => [account, accountUUID]));
}

interface TokenIDs {
  readonly token: number;
  readonly tokenID: string;
  readonly tokenKind: TokenKind;
  readonly tokenText: string | null;
  readonly memberID: string | null;
}

const selectTokens = createQuery<TokenIDs>(
  ({ among }) => `
    SELECT token, "tokenID", kind AS "tokenKind", text AS "tokenText", "memberID" FROM token
    WHERE token ${among('$1', 'integer')}`,
);

/** Looks up tokenIDs by number. A null stands for no token. */
export function* tokenIDsOf(tokens: readonly (number | null)[]): Operation<Map<number | null, TokenIDs>> {
  if (tokens.length === 0) return new Map();
  const rows = yield* all(selectTokens(distinct(tokens)));
  return new Map(rows.map((row) => [row.token, row]));
}
