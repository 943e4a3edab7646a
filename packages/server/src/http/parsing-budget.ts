/**
 * A budget of bytes for each address. Parsing comes before the token is known, and takes up to 8 ms for 64 KiB. A body of some
 * size is parsed when its text holds a good token, or while its address has bytes left. Without any left, a large body is not
 * read unless a good token is in the query string, in the header or among the first bytes of the body.
 */
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { limits } from '@firsthand/contract/limits';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import type { AddressOf } from './client-address.ts';
import { type FindGood, tokensIn } from './good-token.ts';
import type { Budget } from './input.ts';
import { createRateLimit, type RateLimits } from './rate-limits.ts';

/** The first bytes of a body that came in, which are left to be read again; none where the connection ends before. */
const firstBytes = async (incoming: unknown): Promise<Uint8Array | undefined> => {
  if (!(incoming instanceof IncomingMessage) || incoming.destroyed) return undefined;
  const read = (): Uint8Array | null => incoming.read();
  const bytes = read() ?? (await once(incoming, 'readable').then(read, () => null));
  if (bytes !== null) incoming.unshift(bytes);
  return bytes ?? undefined;
};

interface ParsingBudgetOptions {
  readonly findGood: FindGood;
  readonly addressOf: AddressOf;
  readonly rates: Pick<RateLimits, 'unprovenBytes' | 'addressBytes'>;
}

/** Returns the budget of a request. */
export const createParsingBudget = ({ findGood, addressOf, rates }: ParsingBudgetOptions) => {
  const unproven = createRateLimit(rates.unprovenBytes);
  // A browser token is public. What is parsed for one may be stored for it, and so is bounded by the same rate beforehand.
  const ofBrowsers = createRateLimit(rates.addressBytes);

  return (c: Context): Budget => ({
    async mayRead(bytes, query) {
      try {
        unproven.ask(addressOf(c), bytes);
      } catch (error) {
        const { incoming, outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
        if (await findGood(c, query, await firstBytes(incoming))) return;
        // Node takes in the rest of a body that nobody reads, unless the connection ends.
        if (outgoing) outgoing.shouldKeepAlive = false;
        throw error;
      }
    },
    async mayParse(text, query) {
      const access = await findGood(c, query, text);
      if (access !== undefined) {
        if (access.kind === 'browser') ofBrowsers.take(addressOf(c), text.length);
        return;
      }
      unproven.take(addressOf(c), text.length);
      if (text.length > limits.bodyBytes) {
        const code = tokensIn(text).next().done ? 'missing_token' : 'invalid_token';
        throw new Refusal(code, { field: 'tokenUUID' });
      }
    },
  });
};
export type BudgetOf = ReturnType<typeof createParsingBudget>;
