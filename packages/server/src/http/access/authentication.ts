/** Authentication: finds the token in a request's fields or Authorization header, and looks it up. */
import type { Context } from 'hono';
import { hashToken } from '../../ingest/token.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Access, Store } from '../../store/store.ts';
import { sessionOf, sessionPrefix } from '../console/cookie.ts';
import type { Given } from '../request/input.ts';
import type { AddressOf } from './client-address.ts';
import type { RateLimit } from './rate-limits.ts';

const bearer = /^Bearer +(\S+) *$/i;

/** The refusal for a request without a token. It quotes only common schemes, because a header without a scheme may be a token. */
const missingToken = (authorization: string): Refusal => {
  const options = { field: 'tokenUUID' };
  if (authorization === '') return new Refusal('missing_token', options);
  const [scheme] = /^(?:basic|digest|token|negotiate)\b/i.exec(authorization) ?? [];
  const message = `the Authorization header must be \`Bearer <token>\`${scheme ? `, not ${scheme}` : ''}`;
  return new Refusal('missing_token', { ...options, message });
};

/** The value that a request has as its token: the field tokenUUID, or else `Authorization: Bearer` (RFC 6750 section 2.1). */
export const namedToken = ({ tokenUUID }: Given, headers: Headers): unknown => {
  if (tokenUUID !== undefined && tokenUUID !== null && tokenUUID !== '') return tokenUUID;
  return bearer.exec(headers.get('authorization') ?? '')?.[1];
};

/** The proof of a request: a token, or a session of the console. */
interface Proof {
  readonly text: string;
  readonly isSession: boolean;
}

/** The token of a request or, without one, the session of a request of the console. Throws Refusal if there is none or it is not text. */
export const proofOf = (given: Given, headers: Headers): Proof => {
  const token = namedToken(given, headers);
  if (typeof token === 'string') {
    if (!token.startsWith(sessionPrefix)) return { text: token, isSession: false };
    throw new Refusal('token_kind', {
      field: 'tokenUUID',
      message: 'a session of the console is sent as a cookie only',
    });
  }
  const session = token === undefined ? sessionOf(headers) : undefined;
  if (session !== undefined) return { text: session, isSession: true };
  if (token === undefined) throw missingToken(headers.get('authorization') ?? '');
  throw new Refusal('invalid_field', { field: 'tokenUUID', message: '`tokenUUID` must be text' });
};

const goodKey = 'a good token';
/** Whether a request's token has been looked up and is good. */
export const isProven = (c: Context): boolean => c.get(goodKey) === true;

const maxCached = 10_000;

interface AuthenticationOptions {
  readonly store: Pick<Store, 'findAccess' | 'wasMade' | 'onCommit'>;
  readonly addressOf: AddressOf;
  /** Counts guesses at tokens, by address. */
  readonly unknownTokens: Pick<RateLimit, 'take' | 'giveBack'>;
  /** Called with each good token at least once per turn of the event loop in which it is used. */
  readonly noteUse?: (token: number) => void;
  /** Called with each request whose token is good. */
  readonly noteGood?: (c: Context) => void;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Returns a function that looks a token up. It throws Refusal('invalid_token') for a bad token.
 *
 * A token that `store.wasMade` knows, or that was good before, is looked up each time, so that a revoked one stops at once. Any
 * other token is a guess until it is found. An address has few guesses: once it has none left, guesses get 429 without a look-up,
 * while known tokens still work from it, after a restart as well. A guess succeeds with a chance of less than 1 in 2^128.
 *
 * A result is cached for the rest of the turn of the event loop, or until the next commit. The requests of one turn were all sent
 * before it began, and on a busy server nearly all have the same few tokens.
 */
export const createAuthentication = ({
  store,
  addressOf,
  unknownTokens,
  noteUse = () => {},
  noteGood = () => {},
  now = Date.now,
}: AuthenticationOptions) => {
  const good = new BoundedMap<string, true>(maxCached);
  const foundThisTurn = new Map<string, Access>();
  const forgetFound = () => foundThisTurn.clear();
  store.onCommit(forgetFound);
  const underWay = new Map<string, Promise<Access | undefined>>();

  const guess = async (hash: string, address: string) => {
    unknownTokens.take(address);
    const access = await store.findAccess(hash, now());
    if (access === undefined) return undefined;
    unknownTokens.giveBack(address);
    good.set(hash, true);
    return access;
  };

  /** As `guess`, with concurrent guesses at one token counted once: a page's first requests arrive together. */
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
