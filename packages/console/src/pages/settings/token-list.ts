/** The states, names and lists of tokens. */
import type { Account } from '../../reading/account.ts';
import { nameOfMember } from '../../reading/member-names.ts';

export type Token = NonNullable<Account['token']>[number];
type TokenState = 'live' | 'revoked' | 'expired';

export const stateOf = ({ revokedTime, expiresTime }: Token, now: number): TokenState => {
  if (revokedTime !== undefined) return 'revoked';
  return expiresTime !== undefined && Date.parse(expiresTime) <= now ? 'expired' : 'live';
};

export const isLive = (token: Token, now: number): boolean => stateOf(token, now) === 'live';

const newestFirst = (tokens: readonly Token[]): Token[] =>
  tokens.toSorted((a, b) => Date.parse(b.createdTime) - Date.parse(a.createdTime));

interface TokenLists {
  readonly live: readonly Token[];
  /** Revoked or expired. */
  readonly ended: readonly Token[];
  /** Open console sessions. Ended sessions are not listed. */
  readonly sessions: readonly Token[];
}

export const groupTokens = (tokens: readonly Token[], now: number): TokenLists => {
  const sorted = newestFirst(tokens);
  const tokensOnly = sorted.filter(({ session }) => !session);
  const ids = new Set(tokens.filter((token) => isLive(token, now)).map(({ tokenID }) => tokenID));
  return {
    live: tokensOnly.filter((token) => isLive(token, now)),
    ended: tokensOnly.filter((token) => !isLive(token, now)),
    // A session is valid only while the token that started it is valid. A one-time link starts a session without a
    // token.
    sessions: sorted.filter(
      (token) =>
        token.session &&
        isLive(token, now) &&
        (token.createdBy === '' || token.memberID !== undefined || ids.has(token.createdBy)),
    ),
  };
};

/** A token's name or, if it is unnamed, its kind and the beginning of its ID. */
export const nameOfToken = ({ session, memberID, tokenKind, tokenName, tokenID }: Token): string => {
  if (session) return nameOfMember(memberID) ?? 'Console session';
  const kind = tokenKind.charAt(0).toUpperCase() + tokenKind.slice(1);
  return tokenName || `${kind} token ${tokenID.slice(0, 6)}`;
};

/** An actor's name in the audit log, by its tokenID. '' and `command` mean the command line. */
export const nameOfActor = (actor: string, tokens: readonly Token[]): string => {
  if (actor === '' || actor === 'command') return 'the command line';
  const token = tokens.find(({ tokenID }) => tokenID === actor);
  // A session without a member was started with a token or a one-time link.
  if (token?.session && token.memberID === undefined)
    return token.createdBy ? nameOfActor(token.createdBy, tokens) : 'a one-time link';
  return token ? nameOfToken(token) : `token ${actor.slice(0, 6)}`;
};

/** The live tokens that a token created, directly or indirectly. */
export const liveDescendants = (tokenID: string, tokens: readonly Token[], now: number): Token[] =>
  tokens
    .filter(({ createdBy }) => createdBy === tokenID)
    .flatMap((token) => [...(isLive(token, now) ? [token] : []), ...liveDescendants(token.tokenID, tokens, now)]);
