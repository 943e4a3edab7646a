/** Finds a good token before a body is parsed: in the query string, the Authorization header or the text of the body. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { sessionOf } from '../console/cookie.ts';
import type { Given } from '../request/input.ts';
import { namedToken } from './authentication.ts';

const fieldName = 'tokenUUID';
const longestToken = 200;
/** The characters between the name and its value in JSON, in a form and in a form of several parts. */
const value = new RegExp(`^["=:\\s]{1,16}([^\\s"&]{8,${longestToken}})`);

/** The tokens in the text of a body of any type: after the first `tokenUUID`, and after the last. */
export const tokensIn = function* (bytes: Uint8Array): Generator<string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const valueAt = (name: number) => {
    const from = name + fieldName.length;
    return value.exec(text.toString('latin1', from, from + longestToken + 16))?.[1];
  };
  const first = text.indexOf(fieldName);
  if (first < 0) return;
  const firstValue = valueAt(first);
  if (firstValue !== undefined) yield firstValue;
  const lastValue = valueAt(text.lastIndexOf(fieldName));
  if (lastValue !== undefined && lastValue !== firstValue) yield lastValue;
};

/** The tokens of a request, each searched for lazily. Most requests have none, and an Error for each would cost 10 µs. */
const tokensOf = function* (c: Context, query: Given, text: Uint8Array | undefined): Generator<string> {
  const outer = namedToken(query, c.req.raw.headers);
  if (typeof outer === 'string') yield outer;
  const session = sessionOf(c.req.raw.headers);
  if (session !== undefined) yield session;
  if (text) yield* tokensIn(text);
};

/** Resolves with the access of the first good token; undefined if there is none. Rejects if the store can't look it up. */
export type FindGood = (c: Context, query: Given, text?: Uint8Array) => Promise<Access | undefined>;

export const createFindGood =
  (authenticate: (token: string, c: Context) => Promise<Access>): FindGood =>
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
