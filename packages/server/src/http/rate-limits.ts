/** How much is let through of what browsers send, and of tokens that nobody knows. Server tokens are not limited. */
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';

/** On average `perSecond`, and up to `burst` at once after a rest. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateLimits {
  /** Events (other calls count as one) of a browser token, of an address, of a user. */
  readonly token: Rate;
  readonly address: Rate;
  readonly user: Rate;
  /** Bytes that may be stored (stored-bytes.ts) of a browser token, of an address, of a user. */
  readonly tokenBytes: Rate;
  readonly addressBytes: Rate;
  readonly userBytes: Rate;
  /** createContact from an address, and for a user. */
  readonly createContactAddress: Rate;
  readonly createContactUser: Rate;
  /** Looking up a token that turns out unknown, for an address. */
  readonly unknownToken: Rate;
  /** Bytes of bodies that are parsed before a good token is seen, for an address. */
  readonly unprovenBytes: Rate;
  /** Requests that are refused and came without a good token, for an address. */
  readonly unprovenRequests: Rate;
}

export const defaultRateLimits: RateLimits = {
  token: { perSecond: 5_000, burst: 20_000 },
  address: { perSecond: 200, burst: 2_000 },
  user: { perSecond: 50, burst: 1_000 },
  // 600 bytes for each event of the limits above: an ordinary one, and its rows. The burst holds several of the largest requests.
  tokenBytes: { perSecond: 3_000_000, burst: 30_000_000 },
  addressBytes: { perSecond: 120_000, burst: 6_000_000 },
  userBytes: { perSecond: 30_000, burst: 3_000_000 },
  createContactAddress: { perSecond: 5, burst: 50 },
  createContactUser: { perSecond: 1, burst: 20 },
  // Never more than 20 in any minute: 10 at once, and 10 in the minute after.
  unknownToken: { perSecond: 10 / 60, burst: 10 },
  // The largest body of most operations is 64 KiB, and takes up to 8 ms: two at once, and then one every two seconds.
  unprovenBytes: { perSecond: 32 * 1024, burst: 128 * 1024 },
  unprovenRequests: { perSecond: 20, burst: 200 },
};

export interface RateLimit {
  /** Throws Refusal('too_many_requests') when `cost` is too much for a key now. Counts nothing. */
  ask(key: string, cost?: number): void;
  /** Counts `cost` against a key. Throws as `ask` does, and counts nothing, when that is too much. */
  take(key: string, cost?: number): void;
  /** Takes back one that was counted. */
  giveBack(key: string): void;
}

const mostKeys = 100_000;

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A): for each key one number, the time at which all that was
 * counted will have been paid off. `clock` is monotonic, in milliseconds, so that setting the system's clock forgives
 * and forbids nothing. Never more than 100,000 keys: beyond, the paid-off ones are forgotten, then those that owe less than half of
 * a burst, then the oldest. So nobody is forgiven much by many keys that are used once.
 */
export const createRateLimit = ({ perSecond, burst }: Rate, clock = () => performance.now()): RateLimit => {
  const costMilliseconds = 1_000 / perSecond;
  const depthMilliseconds = burst * costMilliseconds;
  const paidOffAt = new Map<string, number>();

  const makeRoom = (now: number) => {
    const most = mostKeys * 0.9;
    for (const [key, time] of paidOffAt) if (time <= now) paidOffAt.delete(key);
    for (const until of [now + depthMilliseconds / 2, Infinity]) {
      for (const [key, time] of paidOffAt) {
        if (paidOffAt.size <= most) return;
        if (time <= until) paidOffAt.delete(key);
      }
    }
  };

  /** When all will have been paid off, with `cost` counted. */
  const pass = (key: string, cost: number, now: number): number => {
    // What costs more than a whole burst could never pass: it is let through when nothing else is owed.
    const time = Math.max(paidOffAt.get(key) ?? 0, now) + Math.min(cost, burst) * costMilliseconds;
    const waitMilliseconds = time - now - depthMilliseconds;
    // A thousandth of slack for the sums of fractions.
    if (waitMilliseconds > 0.001) {
      throw new Refusal('too_many_requests', { retryAfterSeconds: waitMilliseconds / 1_000 });
    }
    return time;
  };

  return {
    ask: (key, cost = 1) => {
      pass(key, cost, clock());
    },
    take: (key, cost = 1) => {
      const now = clock();
      const time = pass(key, cost, now);
      if (paidOffAt.size >= mostKeys && !paidOffAt.has(key)) makeRoom(now);
      paidOffAt.set(key, time);
    },
    giveBack: (key) => {
      const time = paidOffAt.get(key);
      if (time !== undefined) paidOffAt.set(key, time - costMilliseconds);
    },
  };
};

/** A browser's call, as it is counted. */
export interface Counted {
  readonly token: number;
  readonly user: string | undefined;
  readonly events: number;
  /** What it may add to what is stored. */
  readonly bytes: number;
  readonly createsContact: boolean;
}

/**
 * Counts a browser token's call by token, address and user. All are asked before any counts: a call that its address or
 * user may not make costs the token nothing, so that one visitor can't use up what a whole site has.
 */
export const createBrowserLimits = <Source = Context>(
  rates: RateLimits,
  addressOf: (source: Source) => string,
  clock?: () => number,
) => {
  const byToken = createRateLimit(rates.token, clock);
  const byAddress = createRateLimit(rates.address, clock);
  const byUser = createRateLimit(rates.user, clock);
  const bytesByToken = createRateLimit(rates.tokenBytes, clock);
  const bytesByAddress = createRateLimit(rates.addressBytes, clock);
  const bytesByUser = createRateLimit(rates.userBytes, clock);
  const contactsByAddress = createRateLimit(rates.createContactAddress, clock);
  const contactsByUser = createRateLimit(rates.createContactUser, clock);
  return (source: Source, { token, user, events, bytes, createsContact }: Counted): void => {
    const address = addressOf(source);
    const userKey = user === undefined ? undefined : `${token}/${user}`;
    const counts: [limit: RateLimit, key: string | undefined, cost: number][] = [
      [byToken, String(token), events],
      [byAddress, address, events],
      [byUser, userKey, events],
      [bytesByToken, String(token), bytes],
      [bytesByAddress, address, bytes],
      [bytesByUser, userKey, bytes],
    ];
    if (createsContact) counts.push([contactsByAddress, address, 1], [contactsByUser, userKey, 1]);
    for (const [limit, key, cost] of counts) if (key !== undefined) limit.ask(key, cost);
    for (const [limit, key, cost] of counts) if (key !== undefined) limit.take(key, cost);
  };
};

/** Resolves, where another process counts, when it has; throws or rejects with Refusal('too_many_requests'). */
export type TakeBrowserLimits = (c: Context, counted: Counted) => void | Promise<void>;
