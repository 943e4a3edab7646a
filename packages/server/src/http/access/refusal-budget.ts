/**
 * Limits refused requests without a valid token, per address. Beyond the limit, they get 429. Every 429 response, from
 * any limit, is delayed by a second, so that a connection can send only about one request per second: refusing a small
 * request costs as much as serving it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { Unparsed } from '../request/unparsed.ts';
import { isAuthenticated } from './authentication.ts';
import { type AddressOf, connectedAddress, createNetworkMatcher } from './client-address.ts';
import { isForwarded } from './proxy-notice.ts';
import { createRateLimit, type Rate } from './rate-limits.ts';
import type { FindValidToken } from './valid-token.ts';

const delayMilliseconds = 1_000;
/**
 * Beyond this number of delayed responses, further responses are sent immediately, because each delayed response takes
 * memory.
 */
const maxDelayed = 1_000;

interface RefusalBudgetOptions {
  readonly findValidToken: FindValidToken;
  readonly addressOf: AddressOf;
  /** Responses to these proxies are not delayed: their connections serve many clients. */
  readonly trustProxy: readonly string[];
  readonly rate: Rate;
  readonly isStopping: () => boolean;
}

/** Resolves with the error to send: `error` itself, or a Refusal('too_many_requests'). */
export type SpendRefusal = (c: Context, error: unknown) => Promise<unknown>;

export const createRefusalBudget = ({
  findValidToken,
  addressOf,
  trustProxy,
  rate,
  isStopping,
}: RefusalBudgetOptions): SpendRefusal => {
  const unproven = createRateLimit(rate);
  const isTrusted = createNetworkMatcher(trustProxy);
  let delayed = 0;

  /** Whether a request that was refused before its token was looked up has a valid token. */
  const hasValidToken = async (c: Context, error: Refusal): Promise<boolean> => {
    if (error.code === 'missing_token' || error.code === 'invalid_token') return false;
    const query = c.req.url.length > limits.urlBytes ? {} : { tokenUUID: c.req.query('tokenUUID') };
    const text = error instanceof Unparsed ? error.sent : undefined;
    return (await findValidToken(c, query, text).catch(() => undefined)) !== undefined;
  };

  const delay = async (c: Context) => {
    const connected = connectedAddress(c);
    if (connected === '' || delayed >= maxDelayed || isStopping() || isTrusted(connected) || isForwarded(c)) return;
    delayed += 1;
    await wait(delayMilliseconds);
    delayed -= 1;
  };

  return async (c, error) => {
    if (!(error instanceof Refusal) || statusOf(error.code) >= 500) return error;
    let refusal: unknown = error;
    if (error.code !== 'too_many_requests') {
      if (isAuthenticated(c) || (await hasValidToken(c, error))) return error;
      try {
        unproven.take(addressOf(c));
        return error;
      } catch (tooMany) {
        refusal = tooMany;
      }
    }
    await delay(c);
    return refusal;
  };
};
