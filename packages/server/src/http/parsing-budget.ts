/**
 * Parsing comes before the token is known, and takes up to 8 ms for 64 KiB. So that nobody's bodies hold up the others, a body
 * of some size is parsed when its text holds a good token, or while its address has bytes left; without any left, a large body is
 * not even read, unless a good token came before it.
 */
import { limits } from '@firsthand/contract/limits';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import { tokenOf } from './authentication.ts';
import type { AddressOf } from './client-address.ts';
import type { Budget, Given } from './input.ts';
import { createRateLimit, type Rate } from './rate-limits.ts';

const fieldName = 'tokenUUID';
const longestToken = 200;
/** What follows the name in JSON, in a form and in a form of several parts. */
const value = new RegExp(`^["=:\\s]{1,16}([^\\s"&]{8,${longestToken}})`);

/** The token that the text of a body may hold, whatever its type: where the name is first, and where it is last. */
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

interface ParsingBudgetOptions {
  readonly authenticate: (token: string, c: Context) => Promise<unknown>;
  readonly addressOf: AddressOf;
  /** Bytes that an address may have parsed without a good token. */
  readonly rate: Rate;
}

/** Returns the budget of a request. */
export const createParsingBudget = ({ authenticate, addressOf, rate }: ParsingBudgetOptions) => {
  const unproven = createRateLimit(rate);

  const isGood = async (token: string, c: Context): Promise<boolean> => {
    try {
      await authenticate(token, c);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code !== 'not_kept') return false;
      throw error;
    }
  };

  const isAnyGood = async (tokens: Iterable<string>, c: Context): Promise<boolean> => {
    for (const token of tokens) if (await isGood(token, c)) return true;
    return false;
  };

  /** The token of the query or the header. */
  const outerTokens = (query: Given, c: Context): string[] => {
    try {
      return [tokenOf(query, c.req.raw.headers)];
    } catch {
      return [];
    }
  };

  return (c: Context): Budget => ({
    async mayRead(bytes, query) {
      try {
        unproven.ask(addressOf(c), bytes);
      } catch (error) {
        if (await isAnyGood(outerTokens(query, c), c)) return;
        // Node takes in the rest of a body that nobody reads, unless the connection ends.
        const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
        if (outgoing) outgoing.shouldKeepAlive = false;
        throw error;
      }
    },
    async mayParse(body, query) {
      if (await isAnyGood(outerTokens(query, c), c)) return;
      const tokens = tokensIn(body);
      if (await isAnyGood(tokens, c)) return;
      unproven.take(addressOf(c), body.length);
      if (body.length > limits.bodyBytes) {
        throw new Refusal(tokens.length > 0 ? 'invalid_token' : 'missing_token', { field: fieldName });
      }
    },
  });
};
export type BudgetOf = ReturnType<typeof createParsingBudget>;
