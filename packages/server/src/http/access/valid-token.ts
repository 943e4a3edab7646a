/** Finds a valid token before a body is parsed: in the query string, the Authorization header or the body's text. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { sessionOf } from '../console/cookie.ts';
import type { RequestFields } from '../request/input.ts';
import { basicToken, namedToken } from './authentication.ts';

/** The names of the token field in the published interface and in Segment's HTTP API. */
const fieldNames = ['tokenUUID', 'writeKey'];
const maxTokenLength = 200;
/** Matches the token that follows the field's name in JSON, URL-encoded and multipart bodies. */
const value = new RegExp(`^["=:\\s]{1,16}([^\\s"&]{8,${maxTokenLength}})`);

/** Yields the tokens in a body of any type: the values after the first and the last field of each name. */
export const tokensIn = function* (bytes: Uint8Array): Generator<string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const fieldName of fieldNames) {
    const valueAt = (name: number) => {
      const from = name + fieldName.length;
      return value.exec(text.toString('latin1', from, from + maxTokenLength + 16))?.[1];
    };
    const first = text.indexOf(fieldName);
    if (first < 0) continue;
    const firstValue = valueAt(first);
    if (firstValue !== undefined) yield firstValue;
    const lastValue = valueAt(text.lastIndexOf(fieldName));
    if (lastValue !== undefined && lastValue !== firstValue) yield lastValue;
  }
};

/**
 * Yields a request's tokens lazily. Most requests have no invalid token, and creating an Error for each token source
 * would cost 10 µs.
 */
const tokensOf = function* (c: Context, query: RequestFields, text: Uint8Array | undefined): Generator<string> {
  const outer = namedToken(query, c.req.raw.headers);
  if (typeof outer === 'string') yield outer;
  const basic = basicToken(c.req.raw.headers);
  if (basic !== undefined) yield basic;
  const session = sessionOf(c.req.raw.headers);
  if (session !== undefined) yield session;
  if (text) yield* tokensIn(text);
};

/** Resolves with the first valid token's access; undefined if there is none. Rejects if the store can't look it up. */
export type FindValidToken = (c: Context, query: RequestFields, text?: Uint8Array) => Promise<Access | undefined>;

export const createValidTokenFinder =
  (authenticate: (token: string, c: Context) => Promise<Access>): FindValidToken =>
  async (c, query, text) => {
    for (const token of tokensOf(c, query, text)) {
      try {
        return await authenticate(token, c);
      } catch (error) {
        if (!(error instanceof Refusal) || error.code === 'unavailable') throw error;
      }
    }
    return undefined;
  };
