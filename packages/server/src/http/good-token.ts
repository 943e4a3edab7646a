/** Whether a request comes with a good token: in its query string, in its header or in the text of its body. */
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import type { Access } from '../store/store.ts';
import { tokenOf } from './authentication.ts';
import type { Given } from './input.ts';

const fieldName = 'tokenUUID';
const longestToken = 200;
/** The characters between the name and its value in JSON, in a form and in a form of several parts. */
const value = new RegExp(`^["=:\\s]{1,16}([^\\s"&]{8,${longestToken}})`);

/** The tokens in the text of a body of any type: where the name is first, and where it is last. */
export const tokensIn = (bytes: Uint8Array): string[] => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = text.indexOf(fieldName);
  if (first < 0) return [];
  const valueAt = (name: number) => {
    const from = name + fieldName.length;
    return value.exec(text.toString('latin1', from, from + longestToken + 16))?.[1] ?? '';
  };
  const found = new Set([valueAt(first), valueAt(text.lastIndexOf(fieldName))]);
  found.delete('');
  return [...found];
};

/** The token of the query string or the header. */
const outerTokens = (query: Given, c: Context): string[] => {
  try {
    return [tokenOf(query, c.req.raw.headers)];
  } catch {
    return [];
  }
};

/** Resolves with what the first good token may act for; undefined where there is none. Rejects when the store can't look it up. */
export type FindGood = (c: Context, query: Given, text?: Uint8Array) => Promise<Access | undefined>;

export const createFindGood = (authenticate: (token: string, c: Context) => Promise<Access>): FindGood => {
  const find = async (tokens: readonly string[], c: Context): Promise<Access | undefined> => {
    for (const token of tokens) {
      try {
        return await authenticate(token, c);
      } catch (error) {
        if (!(error instanceof Refusal) || error.code === 'not_kept') throw error;
      }
    }
    return undefined;
  };
  // The text of a body is searched only where the others are not good.
  return async (c, query, text) => (await find(outerTokens(query, c), c)) ?? (text && (await find(tokensIn(text), c)));
};
