/** The tokens of the account: their state, their names, and the lists that the page shows. */
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
  /** Open sessions of the console. Sessions that have ended are in no list. */
  readonly sessions: readonly Token[];
}

export const toLists = (tokens: readonly Token[], now: number): TokenLists => {
  const sorted = newestFirst(tokens);
  const made = sorted.filter(({ session }) => !session);
  const ids = new Set(tokens.filter((token) => isLive(token, now)).map(({ tokenID }) => tokenID));
  return {
    live: made.filter((token) => isLive(token, now)),
    ended: made.filter((token) => !isLive(token, now)),
    // A session works only while the token that signed in does. A one-time link signs in without a token.
    sessions: sorted.filter(
      (token) =>
        token.session &&
        isLive(token, now) &&
        (token.createdBy === '' || token.memberID !== undefined || ids.has(token.createdBy)),
    ),
  };
};

/** The name of a token; its kind and the beginning of its ID where nobody gave it a name. */
export const nameOfToken = ({ session, memberID, tokenKind, tokenName, tokenID }: Token): string => {
  if (session) return nameOfMember(memberID) ?? 'Console session';
  const kind = tokenKind.charAt(0).toUpperCase() + tokenKind.slice(1);
  return tokenName || `${kind} token ${tokenID.slice(0, 6)}`;
};

/** The name of the token that did something, by its tokenID. '' and `command` are the command line. */
export const nameOfActor = (actor: string, tokens: readonly Token[]): string => {
  if (actor === '' || actor === 'command') return 'the command line';
  const token = tokens.find(({ tokenID }) => tokenID === actor);
  // Without a member, a token or a one-time link signed in.
  if (token?.session && token.memberID === undefined)
    return token.createdBy ? nameOfActor(token.createdBy, tokens) : 'a sign-in link';
  return token ? nameOfToken(token) : `token ${actor.slice(0, 6)}`;
};

/** The tokens that a token made, directly or not, and that still work. */
export const liveDescendants = (tokenID: string, tokens: readonly Token[], now: number): Token[] =>
  tokens
    .filter(({ createdBy }) => createdBy === tokenID)
    .flatMap((token) => [...(isLive(token, now) ? [token] : []), ...liveDescendants(token.tokenID, tokens, now)]);
