/**
 * Limits the bytes that are parsed for an address without a good token. A body is parsed before its token is known, which takes up to
 * 8 ms for 64 KiB. A body over 1 KiB is parsed if the query string, the header or its text has a good token, or while its address has bytes
 * left. Once none are left, a body over 16 KiB is read only if the query string, the header or its first bytes have a good token. A compressed
 * body counts as the largest permitted until it is decompressed, because a body that is too large or broken never gets parsed.
 */
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { type AddressOf, bindingsOf } from '../access/client-address.ts';
import { type FindGood, tokensIn } from '../access/good-token.ts';
import { createRateLimit, type RateLimits } from '../access/rate-limits.ts';
import { unpackBeginning } from './body.ts';
import type { Budget } from './input.ts';

/** The first bytes of a body, which stay to be read again; undefined if the connection ends before any arrive. */
const firstBytes = async (incoming: unknown): Promise<Uint8Array | undefined> => {
  if (!(incoming instanceof IncomingMessage) || incoming.destroyed) return undefined;
  const read = (): Uint8Array | null => incoming.read();
  const bytes = read() ?? (await once(incoming, 'readable').then(read, () => null));
  if (bytes !== null) incoming.unshift(bytes);
  return bytes ?? undefined;
};

/** Returns a function that returns the budget for a request. */
export const createParsingBudget = (findGood: FindGood, addressOf: AddressOf, rates: RateLimits) => {
  const unproven = createRateLimit(rates.unprovenBytes);
  // A browser token is public, so its bodies are bounded too, by the rate at which they may be stored.
  const ofBrowsers = createRateLimit(rates.addressBytes);

  return (c: Context): Budget => ({
    async mayRead(bytes, query) {
      try {
        unproven.ask(addressOf(c), bytes);
      } catch (error) {
        const { incoming, outgoing } = bindingsOf(c);
        if (await findGood(c, query, await firstBytes(incoming))) return;
        // Node would read the rest of the body if the connection stayed open.
        if (outgoing) outgoing.shouldKeepAlive = false;
        throw error;
      }
    },
    async mayUnpack(packed, maxBytes, query) {
      // With a token outside of the body, its beginning need not be unpacked.
      const access = (await findGood(c, query)) ?? (await findGood(c, query, await unpackBeginning(packed)));
      if (access !== undefined && access.kind !== 'browser') return () => {};
      const limit = access === undefined ? unproven : ofBrowsers;
      const address = addressOf(c);
      limit.take(address, maxBytes);
      return () => limit.giveBack(address, maxBytes);
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
