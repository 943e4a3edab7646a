/** Whose token it is: from a request's fields or its Authorization header to what the token may act for. */
import type { Context } from 'hono';
import { hashToken } from '../ingest/token.ts';
import { Refusal } from '../refusal.ts';
import type { Access, Store } from '../store/store.ts';
import type { AddressOf } from './client-address.ts';
import type { UnknownTokens } from './counting.ts';
import type { Given } from './input.ts';

const bearer = /^Bearer +(\S+) *$/i;

/** The scheme is named only when it is a common one: a header without any may be a token. */
const missingToken = (authorization: string): Refusal => {
  const options = { field: 'tokenUUID' };
  if (authorization === '') return new Refusal('missing_token', options);
  const [scheme] = /^(?:basic|digest|token|negotiate)\b/i.exec(authorization) ?? [];
  const message = `the Authorization header must be \`Bearer <token>\`${scheme ? `, not ${scheme}` : ''}`;
  return new Refusal('missing_token', { ...options, message });
};

/** What a request names as its token: the field tokenUUID, or else `Authorization: Bearer` (RFC 6750 section 2.1). */
export const namedToken = ({ tokenUUID }: Given, headers: { get(name: string): string | null }): unknown => {
  if (tokenUUID !== undefined && tokenUUID !== null && tokenUUID !== '') return tokenUUID;
  return bearer.exec(headers.get('authorization') ?? '')?.[1];
};

/** The token of a request. Throws where it names none. */
export const tokenOf = (given: Given, headers: { get(name: string): string | null }): string => {
  const token = namedToken(given, headers);
  if (typeof token === 'string') return token;
  if (token === undefined) throw missingToken(headers.get('authorization') ?? '');
  throw new Refusal('invalid_field', { field: 'tokenUUID', message: '`tokenUUID` must be text' });
};

const goodKey = 'a good token';
/** Whether a request's token has been looked up and is good. */
export const isProven = (c: Context): boolean => c.get(goodKey) === true;

const mostRemembered = 10_000;

interface AuthenticationOptions {
  readonly store: Pick<Store, 'findAccess' | 'wasMade' | 'onCommit'>;
  readonly addressOf: AddressOf;
  readonly unknownTokens: UnknownTokens;
  /** Told of each token that is found good, at least once in a turn in which it is used. */
  readonly noteUse?: (token: number) => void;
  /** Told of each request whose token is found good. */
  readonly noteGood?: (c: Context) => void;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Looks tokens up. Those that were made, or were good before, are looked up each time, so that a revoked one stops at
 * once; others are guesses until they are found, and an address has few of them, so that guessing on ends in 429 without
 * a look. A token that was made is no guess even where this process meets it first: good ones go on from an address that
 * is out of guesses, after a restart as well. Whoever hits one by chance, of 2^128, is not stopped by any count.
 *
 * What was found counts for the rest of a turn of the event loop, or until the next commit: the requests that a turn
 * brings had all been sent when it began, and on a busy server nearly all of them come with the same few tokens.
 */
export const createAuthentication = ({
  store,
  addressOf,
  unknownTokens,
  noteUse = () => {},
  noteGood = () => {},
  now = Date.now,
}: AuthenticationOptions) => {
  const good = new Set<string>();
  const foundThisTurn = new Map<string, Access>();
  const forgetFound = () => foundThisTurn.clear();
  store.onCommit(forgetFound);
  const underWay = new Map<string, Promise<Access | undefined>>();

  const remember = (hash: string) => {
    for (const oldest of good) {
      if (good.size < mostRemembered) break;
      good.delete(oldest);
    }
    good.add(hash);
  };

  const guess = async (hash: string, address: string) => {
    await unknownTokens.take(address);
    const access = await store.findAccess(hash, now());
    if (access === undefined) return undefined;
    unknownTokens.giveBack(address);
    remember(hash);
    return access;
  };

  /** A page's first requests come together, all with the same token: that is one guess. */
  const guessOnce = (hash: string, c: Context) => {
    const other = underWay.get(hash);
    if (other) return other;
    const access = guess(hash, addressOf(c)).finally(() => underWay.delete(hash));
    underWay.set(hash, access);
    return access;
  };

  const find = async (token: string, c: Context): Promise<Access> => {
    const hash = hashToken(token);
    const isGuess = !good.has(hash) && !(await store.wasMade(hash));
    const access = isGuess ? await guessOnce(hash, c) : await store.findAccess(hash, now());
    if (access === undefined) {
      good.delete(hash);
      throw new Refusal('invalid_token', { field: 'tokenUUID' });
    }
    return access;
  };

  return async (token: string, c: Context): Promise<Access> => {
    const found = foundThisTurn.get(token);
    const access = found ?? (await find(token, c));
    c.set(goodKey, true);
    noteGood(c);
    if (found !== undefined) return found;
    noteUse(access.token);
    if (foundThisTurn.size === 0) setImmediate(forgetFound);
    foundThisTurn.set(token, access);
    return access;
  };
};
