/**
 * Limits the bytes that are parsed without a valid token, per address: a body is parsed before its token is known,
 * which takes up to 8 ms for 64 KiB.
 *
 * - A body over 1 KiB is parsed if the query string, the header or its text has a valid token, or while its address has
 *   budget left.
 * - Without budget, a body over 16 KiB is read only if the query string, the header or its first bytes have a valid
 *   token.
 * - A compressed body counts as the maximum size until it is decompressed, because a body that is too large or invalid
 *   is never parsed.
 */
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { type AddressOf, bindingsOf } from '../access/client-address.ts';
import { createRateLimit, type RateLimits } from '../access/rate-limits.ts';
import { type FindValidToken, tokensIn } from '../access/valid-token.ts';
import { unpackStart } from './body.ts';
import type { Budget } from './input.ts';

/**
 * Returns the first bytes of a body without consuming them; undefined if the connection closes before any bytes arrive.
 */
const peek = async (incoming: unknown): Promise<Uint8Array | undefined> => {
  if (!(incoming instanceof IncomingMessage) || incoming.destroyed) return undefined;
  const read = (): Uint8Array | null => incoming.read();
  const bytes = read() ?? (await once(incoming, 'readable').then(read, () => null));
  if (bytes !== null) incoming.unshift(bytes);
  return bytes ?? undefined;
};

/** Returns a function that creates the budget of a request. */
export const createParsingBudget = (findValidToken: FindValidToken, addressOf: AddressOf, rates: RateLimits) => {
  const unproven = createRateLimit(rates.unprovenBytes);
  // A browser token is public, so its bodies are limited too, by the rate at which they may be stored.
  const ofBrowsers = createRateLimit(rates.addressBytes);

  return (c: Context): Budget => ({
    async mayRead(bytes, query) {
      try {
        unproven.check(addressOf(c), bytes);
      } catch (error) {
        const { incoming, outgoing } = bindingsOf(c);
        if (await findValidToken(c, query, await peek(incoming))) return;
        // Otherwise, Node would read the rest of the body before it reuses the connection.
        if (outgoing) outgoing.shouldKeepAlive = false;
        throw error;
      }
    },
    async mayUnpack(packed, maxBytes, query) {
      // Doesn't decompress the body to find a token if there is one outside the body.
      const access = (await findValidToken(c, query)) ?? (await findValidToken(c, query, await unpackStart(packed)));
      if (access !== undefined && access.kind !== 'browser') return () => {};
      const limit = access === undefined ? unproven : ofBrowsers;
      const address = addressOf(c);
      limit.take(address, maxBytes);
      return () => limit.refund(address, maxBytes);
    },
    async mayParse(text, query) {
      const access = await findValidToken(c, query, text);
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
