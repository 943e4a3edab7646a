/** What is counted of all requests together, and learnt from them: by this process, or by one that several of them ask. */
import type { Context } from 'hono';
import { type ClockErrorOf, createClockErrors } from '../ingest/clock-errors.ts';
import { type AddressOf, createAddressOf, createNetworkHash, senderNumber } from './client-address.ts';
import {
  createBrowserLimits,
  createRateLimit,
  type RateLimit,
  type RateLimits,
  type TakeBrowserLimits,
} from './rate-limits.ts';
import { createStreamPlaces, type StreamPlaces } from './stream-places.ts';

type Later<Function extends (...args: never) => unknown> = (
  ...args: Parameters<Function>
) => ReturnType<Function> | Promise<ReturnType<Function>>;

/** Guesses at tokens, counted by address. */
export interface UnknownTokens {
  readonly take: Later<(address: string) => void>;
  readonly giveBack: RateLimit['giveBack'];
}

/** Each may answer later, where another process counts. */
export interface Counting {
  readonly addressOf: AddressOf;
  readonly senderOf: Later<(c: Context) => number>;
  readonly takeBrowserLimits: TakeBrowserLimits;
  readonly unknownTokens: UnknownTokens;
  readonly streamPlaces: { readonly [Name in keyof StreamPlaces]: Later<StreamPlaces[Name]> };
  readonly clockErrorOf: Later<ClockErrorOf>;
}

/** Counts here, what comes from `addressOf` a source. */
const countHere = <Source>(rateLimits: RateLimits, addressOf: (source: Source) => string) => ({
  addressOf,
  senderOf: (source: Source) => senderNumber(addressOf(source)),
  takeBrowserLimits: createBrowserLimits(rateLimits, addressOf),
  unknownTokens: createRateLimit(rateLimits.unknownToken),
  streamPlaces: createStreamPlaces(),
  clockErrorOf: createClockErrors(),
});

/** For this process alone. */
export const createCounting = (rateLimits: RateLimits, trustProxy: readonly string[]): Counting =>
  countHere(rateLimits, createAddressOf(trustProxy));

/** For processes that ask, and say from which network a request came. */
export const createCountingForAll = (rateLimits: RateLimits) => countHere(rateLimits, createNetworkHash());
export type CountingForAll = ReturnType<typeof createCountingForAll>;
