/** Rate limits for browser tokens and for unknown tokens. Server tokens are not limited. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { CallCost } from './call-cost.ts';
import type { AddressOf } from './client-address.ts';

/** A rate: `perSecond` on average, and up to `burst` at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The rates of all limits, unless RATE_LIMIT sets others. */
export const defaultRateLimits = {
  // Events of a browser token, of an address, of a user. Other calls count as one event.
  token: { perSecond: 5_000, burst: 20_000 },
  address: { perSecond: 200, burst: 2_000 },
  user: { perSecond: 50, burst: 1_000 },
  // Bytes that may be stored (call-cost.ts) of a browser token, of an address, of a user: 600 bytes for each event of the limits
  // above, which is an ordinary event with its rows. The burst holds several of the largest requests.
  tokenBytes: { perSecond: 3_000_000, burst: 30_000_000 },
  addressBytes: { perSecond: 120_000, burst: 6_000_000 },
  userBytes: { perSecond: 30_000, burst: 3_000_000 },
  // createContact from an address, and for a user.
  createContactAddress: { perSecond: 5, burst: 50 },
  createContactUser: { perSecond: 1, burst: 20 },
  // Event names that pages add to catalogues, for a network (an IPv6 /48): 20 at once, and then 20 an hour.
  newNames: { perSecond: 20 / 3_600, burst: 20 },
  // Look-ups of unknown tokens, for an address. Never more than 20 in any minute: 10 at once, and 10 in the minute after.
  unknownToken: { perSecond: 10 / 60, burst: 10 },
  // Bytes that are parsed without a good token, for an address. Most operations take bodies of up to 64 KiB, which take up to 8 ms
  // to parse: two at once, and then one every two seconds.
  unprovenBytes: { perSecond: 32 * 1024, burst: 128 * 1024 },
  // Refused requests without a good token, for an address.
  unprovenRequests: { perSecond: 20, burst: 200 },
} satisfies Record<string, Rate>;

export type RateLimits = Readonly<Record<keyof typeof defaultRateLimits, Rate>>;

export interface RateLimit {
  /** Throws Refusal('too_many_requests') if `cost` exceeds the rate of the key now. Counts nothing. */
  ask(key: string, cost?: number): void;
  /** Counts `cost` for the key, or throws as `ask` does and counts nothing. */
  take(key: string, cost?: number): void;
  /** Takes back a counted cost. */
  giveBack(key: string, cost?: number): void;
}

/** What one request costs: for each limit its key, and the cost if it is not 1. */
export type Costs = readonly (readonly [limit: RateLimit, key: string, cost?: number])[];

/** Counts all costs. Throws Refusal('too_many_requests') if one exceeds its limit, and then counts none. */
export const takeAll = (costs: Costs): void => {
  for (const [limit, key, cost] of costs) limit.ask(key, cost);
  for (const [limit, key, cost] of costs) limit.take(key, cost);
};

export const giveBackAll = (costs: Costs): void => {
  for (const [limit, key, cost] of costs) limit.giveBack(key, cost);
};

const maxKeys = 100_000;

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A): stores one number for each key, the time at which its cost so far will be
 * paid off. `clock` is monotonic, in milliseconds, so that setting the system's clock has no effect. Holds at most 100,000 keys:
 * beyond, it forgets the keys that are paid off, then those that owe less than half a burst, then the oldest. So sending many keys
 * once each makes it forget only small debts.
 */
export const createRateLimit = ({ perSecond, burst }: Rate, clock = () => performance.now()): RateLimit => {
  const costMilliseconds = 1_000 / perSecond;
  const depthMilliseconds = burst * costMilliseconds;
  const paidOffAt = new Map<string, number>();

  const makeRoom = (now: number) => {
    const most = maxKeys * 0.9;
    for (const [key, time] of paidOffAt) if (time <= now) paidOffAt.delete(key);
    for (const until of [now + depthMilliseconds / 2, Infinity]) {
      for (const [key, time] of paidOffAt) {
        if (paidOffAt.size <= most) return;
        if (time <= until) paidOffAt.delete(key);
      }
    }
  };

  /** The time at which the key will be paid off with `cost` added. Throws Refusal('too_many_requests') if that is too late. */
  const pass = (key: string, cost: number, now: number): number => {
    // A cost above a whole burst could never pass, so it counts as a whole burst: it passes if nothing else is owed.
    const time = Math.max(paidOffAt.get(key) ?? 0, now) + Math.min(cost, burst) * costMilliseconds;
    const waitMilliseconds = time - now - depthMilliseconds;
    // 0.001 ms of slack for rounding errors.
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
      if (paidOffAt.size >= maxKeys && !paidOffAt.has(key)) makeRoom(now);
      paidOffAt.set(key, time);
    },
    giveBack: (key, cost = 1) => {
      const time = paidOffAt.get(key);
      if (time !== undefined) paidOffAt.set(key, time - Math.min(cost, burst) * costMilliseconds);
    },
  };
};

/** Throws Refusal('too_many_requests'). */
export type TakeBrowserLimits = (c: Context, cost: CallCost) => void;

/**
 * Counts a browser token's call by token, address and user. A call that exceeds the limit of its address or user costs the token nothing,
 * so that one visitor can't use up the limit of a whole site.
 */
export const createBrowserLimits = (
  rates: RateLimits,
  addressOf: AddressOf,
  clock?: () => number,
): TakeBrowserLimits => {
  const limits = Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => [name, createRateLimit(rate, clock)]),
  ) as Record<keyof RateLimits, RateLimit>;
  return (c, { token, user, events, bytes, createsContact }) => {
    const address = addressOf(c);
    const userKey = user === undefined ? undefined : `${token}/${user}`;
    const counts: [limit: RateLimit, key: string | undefined, cost: number][] = [
      [limits.token, String(token), events],
      [limits.address, address, events],
      [limits.user, userKey, events],
      [limits.tokenBytes, String(token), bytes],
      [limits.addressBytes, address, bytes],
      [limits.userBytes, userKey, bytes],
    ];
    if (createsContact) counts.push([limits.createContactAddress, address, 1], [limits.createContactUser, userKey, 1]);
    takeAll(counts.flatMap(([limit, key, cost]) => (key === undefined ? [] : [[limit, key, cost]])));
  };
};
