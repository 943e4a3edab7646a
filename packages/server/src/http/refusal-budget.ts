/**
 * A budget of requests for each address: those that are refused and came without a good token. Beyond it they are 429. Every 429,
 * whichever limit was met, is held for a second, so that a connection sends about one request a second. To refuse at once would
 * save little: a small request costs as much to refuse as to answer.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import { isProven } from './authentication.ts';
import { type AddressOf, bare, createTrust } from './client-address.ts';
import type { FindGood } from './good-token.ts';
import { createIsForwarded } from './proxy-notice.ts';
import { createRateLimit, type Rate } from './rate-limits.ts';
import { Unparsed } from './unparsed.ts';

const heldMilliseconds = 1_000;
/** Each takes memory while it is held. Beyond these, responses are sent at once. */
const mostHeld = 1_000;

interface RefusalBudgetOptions {
  readonly findGood: FindGood;
  readonly addressOf: AddressOf;
  /** A proxy's connections are many clients', and are not held. */
  readonly trustProxy: readonly string[];
  readonly rate: Rate;
  readonly isStopping: () => boolean;
}

/** Resolves with the error to answer, which may be another than `error`. */
export type SpendRefusal = (c: Context, error: unknown) => Promise<unknown>;

export const createRefusalBudget = ({
  findGood,
  addressOf,
  trustProxy,
  rate,
  isStopping,
}: RefusalBudgetOptions): SpendRefusal => {
  const unproven = createRateLimit(rate);
  const isTrusted = createTrust(trustProxy);
  const isForwarded = createIsForwarded();
  let held = 0;

  /** The token of a request that was refused before it was looked at. */
  const provesLate = async (c: Context, error: Refusal): Promise<boolean> => {
    if (error.code === 'missing_token' || error.code === 'invalid_token') return false;
    const query = c.req.url.length > limits.urlBytes ? {} : { tokenUUID: c.req.query('tokenUUID') };
    const text = error instanceof Unparsed ? error.sent : undefined;
    return (await findGood(c, query, text).catch(() => undefined)) !== undefined;
  };

  const hold = async (c: Context) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    const connected = incoming?.socket?.remoteAddress;
    if (connected === undefined || held >= mostHeld || isStopping()) return;
    if (isTrusted(bare(connected)) || isForwarded(c)) return;
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
