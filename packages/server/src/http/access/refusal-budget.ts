/**
 * Limits the refused requests of an address without a good token. Beyond the limit they get 429. Every 429, from whichever limit, is
 * delayed by a second, so that a connection sends about one request a second. An immediate 429 would save little, because refusing
 * a small request costs as much as serving it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { Unparsed } from '../request/unparsed.ts';
import { isProven } from './authentication.ts';
import { type AddressOf, connectedAddress, createIsIn } from './client-address.ts';
import type { FindGood } from './good-token.ts';
import { isForwarded } from './proxy-notice.ts';
import { createRateLimit, type Rate } from './rate-limits.ts';

const heldMilliseconds = 1_000;
/** Delayed responses, each of which takes memory. Beyond these, responses are sent at once. */
const maxHeld = 1_000;

interface RefusalBudgetOptions {
  readonly findGood: FindGood;
  readonly addressOf: AddressOf;
  /** Responses to these proxies are not delayed, because their connections serve many clients. */
  readonly trustProxy: readonly string[];
  readonly rate: Rate;
  readonly isStopping: () => boolean;
}

/** Resolves with the error to respond with: `error`, or a Refusal('too_many_requests') in its place. */
export type SpendRefusal = (c: Context, error: unknown) => Promise<unknown>;

export const createRefusalBudget = ({
  findGood,
  addressOf,
  trustProxy,
  rate,
  isStopping,
}: RefusalBudgetOptions): SpendRefusal => {
  const unproven = createRateLimit(rate);
  const isTrusted = createIsIn(trustProxy);
  let held = 0;

  /** Whether a request that was refused before its token was looked up has a good one. */
  const provesLate = async (c: Context, error: Refusal): Promise<boolean> => {
    if (error.code === 'missing_token' || error.code === 'invalid_token') return false;
    const query = c.req.url.length > limits.urlBytes ? {} : { tokenUUID: c.req.query('tokenUUID') };
    const text = error instanceof Unparsed ? error.sent : undefined;
    return (await findGood(c, query, text).catch(() => undefined)) !== undefined;
  };

  const hold = async (c: Context) => {
    const connected = connectedAddress(c);
    if (connected === '' || held >= maxHeld || isStopping() || isTrusted(connected) || isForwarded(c)) return;
    held += 1;
    await wait(heldMilliseconds);
    held -= 1;
  };

  return async (c, error) => {
    if (!(error instanceof Refusal) || statusOf(error.code) >= 500) return error;
    let refusal: unknown = error;
    if (error.code !== 'too_many_requests') {
      if (isProven(c) || (await provesLate(c, error))) return error;
      try {
        unproven.take(addressOf(c));
        return error;
      } catch (tooMany) {
        refusal = tooMany;
      }
    }
    await hold(c);
    return refusal;
  };
};
