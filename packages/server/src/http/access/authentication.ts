/** Finds the token in a request's fields or Authorization header, and looks it up. */
import type { Context } from 'hono';
import { hashToken } from '../../ingest/token.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Access, Store } from '../../store/store.ts';
import { sessionOf, sessionPrefix } from '../console/cookie.ts';
import type { RequestFields } from '../request/input.ts';
import type { AddressOf } from './client-address.ts';
import type { RateLimit } from './rate-limits.ts';

/** Returns the user name from Basic authentication (RFC 7617), in which Segment's clients send the token. */
export const basicToken = (headers: Headers): string | undefined => {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]{1,400}) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] || undefined;
};

const bearer = /^Bearer +(\S+) *$/i;

/**
 * Returns the refusal for a missing token. It quotes only common schemes, because a header without a scheme might
 * itself be a token.
 */
const missingToken = (authorization: string): Refusal => {
  const options = { field: 'tokenUUID' };
  if (authorization === '') return new Refusal('missing_token', options);
  const [scheme] = /^(?:basic|digest|token|negotiate)\b/i.exec(authorization) ?? [];
  const message = `the Authorization header must be \`Bearer <token>\`${scheme ? `, not ${scheme}` : ''}`;
  return new Refusal('missing_token', { ...options, message });
};

/** Returns the value sent as the token: the field tokenUUID, or else `Authorization: Bearer` (RFC 6750 section 2.1). */
export const namedToken = ({ tokenUUID }: RequestFields, headers: Headers): unknown => {
  if (tokenUUID !== undefined && tokenUUID !== null && tokenUUID !== '') return tokenUUID;
  return bearer.exec(headers.get('authorization') ?? '')?.[1];
};

/** A request's credentials: a token, or a console session. */
interface Credentials {
  readonly text: string;
  readonly isSession: boolean;
}

/**
 * Returns a request's token or, without one, its console session. Throws Refusal if there is neither, or if the token
 * is not a string.
 */
export const credentialsOf = (fields: RequestFields, headers: Headers): Credentials => {
  const token = namedToken(fields, headers);
  if (typeof token === 'string') {
    if (!token.startsWith(sessionPrefix)) return { text: token, isSession: false };
    throw new Refusal('token_kind', {
      field: 'tokenUUID',
      message: 'a console session can only be sent as a cookie',
    });
  }
  const session = token === undefined ? sessionOf(headers) : undefined;
  if (session !== undefined) return { text: session, isSession: true };
  if (token === undefined) throw missingToken(headers.get('authorization') ?? '');
  throw new Refusal('invalid_field', { field: 'tokenUUID', message: '`tokenUUID` must be text' });
};

const authenticatedKey = 'isAuthenticated';
/** Whether a request's token has been looked up and is valid. */
export const isAuthenticated = (c: Context): boolean => c.get(authenticatedKey) === true;

const maxCached = 10_000;

interface AuthenticationOptions {
  readonly store: Pick<Store, 'findAccess' | 'wasTokenCreated' | 'onCommit'>;
  readonly addressOf: AddressOf;
  /** Counts guesses at tokens, by address. */
  readonly unknownTokens: Pick<RateLimit, 'take' | 'refund'>;
  /** Called with each valid token, at least once per turn of the event loop in which it is used. */
  readonly noteUse?: (token: number) => void;
  /** Called with each request whose token is valid. */
  readonly noteAuthenticated?: (c: Context) => void;
  /** The current time, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Returns a function that looks up a token and throws Refusal('invalid_token') for an invalid one.
 *
 * A token that this database issued, or that was valid before, is always looked up, so that revoking it takes effect
 * immediately. Any other token is a guess. Each address may make a few guesses; after that, guesses get 429 without a
 * lookup.
 *
 * A result is cached until the next turn of the event loop or the next commit. All requests in one turn were sent
 * before it began, and on a busy server nearly all use the same few tokens.
 */
export const createAuthentication = ({
  store,
  addressOf,
  unknownTokens,
  noteUse = () => {},
  noteAuthenticated = () => {},
  now = Date.now,
}: AuthenticationOptions) => {
  const validHashes = new BoundedMap<string, true>(maxCached);
  const cache = new Map<string, Access>();
  const clearCache = () => cache.clear();
  store.onCommit(clearCache);
  const inFlight = new Map<string, Promise<Access | undefined>>();

  const guess = async (hash: string, address: string) => {
    unknownTokens.take(address);
    const access = await store.findAccess(hash, now());
    if (access === undefined) return undefined;
    unknownTokens.refund(address);
    validHashes.set(hash, true);
    return access;
  };

  /**
   * Like `guess`, but counts concurrent guesses at the same token only once: a page's first requests arrive together.
   */
  const guessOnce = (hash: string, c: Context) => {
    const other = inFlight.get(hash);
    if (other) return other;
    const access = guess(hash, addressOf(c)).finally(() => inFlight.delete(hash));
    inFlight.set(hash, access);
    return access;
  };

  const find = async (token: string, c: Context): Promise<Access> => {
    const hash = hashToken(token);
    const isGuess = !validHashes.has(hash) && !(await store.wasTokenCreated(hash));
    const access = isGuess ? await guessOnce(hash, c) : await store.findAccess(hash, now());
    if (access === undefined) {
      validHashes.delete(hash);
      throw new Refusal('invalid_token', { field: 'tokenUUID' });
    }
    return access;
  };

  return async (token: string, c: Context): Promise<Access> => {
    const cached = cache.get(token);
    const access = cached ?? (await find(token, c));
    c.set(authenticatedKey, true);
    noteAuthenticated(c);
    if (cached !== undefined) return cached;
    noteUse(access.token);
    if (cache.size === 0) setImmediate(clearCache);
    cache.set(token, access);
    return access;
  };
};
