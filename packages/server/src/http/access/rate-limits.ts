/** Rate limits for browser tokens and unknown tokens. Server tokens are not limited. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { CallCost } from './call-cost.ts';
import type { AddressOf } from './client-address.ts';

/** A rate: `perSecond` on average, with bursts of up to `burst`. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The default rates, which RATE_LIMIT can override. */
export const defaultRateLimits = {
  // Events per browser token, address and user. Other calls count as one event.
  token: { perSecond: 5_000, burst: 20_000 },
  address: { perSecond: 200, burst: 2_000 },
  user: { perSecond: 50, burst: 1_000 },
  // Stored bytes (call-cost.ts) per browser token, address and user: 600 bytes, a typical event with its rows, for each
  // event allowed above. A burst is enough for several of the largest requests.
  tokenBytes: { perSecond: 3_000_000, burst: 30_000_000 },
  addressBytes: { perSecond: 120_000, burst: 6_000_000 },
  userBytes: { perSecond: 30_000, burst: 3_000_000 },
  // createContact calls per address and user.
  createContactAddress: { perSecond: 5, burst: 50 },
  createContactUser: { perSecond: 1, burst: 20 },
  // Event names that pages add to catalogues, per network (IPv4 address or IPv6 /48): a burst of 20, then 20 per hour.
  newNames: { perSecond: 20 / 3_600, burst: 20 },
  // Lookups of unknown tokens per address: a burst of 10, then 10 per minute, so at most 20 in any minute.
  unknownToken: { perSecond: 10 / 60, burst: 10 },
  // Bytes parsed without a valid token, per address. Most operations take bodies of up to 64 KiB, which take up to 8 ms
  // to parse: this allows two such bodies, then one every two seconds.
  unprovenBytes: { perSecond: 32 * 1024, burst: 128 * 1024 },
  // Refused requests without a valid token, per address.
  unprovenRequests: { perSecond: 20, burst: 200 },
} satisfies Record<string, Rate>;

export type RateLimits = Readonly<Record<keyof typeof defaultRateLimits, Rate>>;

export interface RateLimit {
  /** Throws Refusal('too_many_requests') if `cost` would exceed the key's rate. Charges nothing. */
  check(key: string, cost?: number): void;
  /** Charges `cost` to the key, or throws like `check` and charges nothing. */
  take(key: string, cost?: number): void;
  /** Refunds a charged cost. */
  refund(key: string, cost?: number): void;
}

/** The costs of one request: each limit with its key, and the cost if it is not 1. */
export type Costs = readonly (readonly [limit: RateLimit, key: string, cost?: number])[];

/** Charges all costs, or throws Refusal('too_many_requests') and charges none. */
export const takeAll = (costs: Costs): void => {
  for (const [limit, key, cost] of costs) limit.check(key, cost);
  for (const [limit, key, cost] of costs) limit.take(key, cost);
};

export const refundAll = (costs: Costs): void => {
  for (const [limit, key, cost] of costs) limit.refund(key, cost);
};

const maxKeys = 100_000;

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A): stores, for each key, the time at which its costs so far are
 * paid off. `clock` is monotonic, in milliseconds, so changing the system clock has no effect.
 *
 * Beyond 100,000 keys, it first drops keys that are paid off, then keys that owe less than half a burst, then the
 * oldest keys. Flooding it with keys therefore erases only small debts.
 */
export const createRateLimit = ({ perSecond, burst }: Rate, clock = () => performance.now()): RateLimit => {
  const costMilliseconds = 1_000 / perSecond;
  const depthMilliseconds = burst * costMilliseconds;
  const paidOffAt = new Map<string, number>();

  const makeRoom = (now: number) => {
    const targetSize = maxKeys * 0.9;
    for (const [key, time] of paidOffAt) if (time <= now) paidOffAt.delete(key);
    for (const until of [now + depthMilliseconds / 2, Infinity]) {
      for (const [key, time] of paidOffAt) {
        if (paidOffAt.size <= targetSize) return;
        if (time <= until) paidOffAt.delete(key);
      }
    }
  };

  /**
   * Returns when the key will be paid off with `cost` added. Throws Refusal('too_many_requests') if that is too late.
   */
  const addCost = (key: string, cost: number, now: number): number => {
    // A cost above the burst could never pass, so it costs one full burst: it passes if the key owes nothing.
    const time = Math.max(paidOffAt.get(key) ?? 0, now) + Math.min(cost, burst) * costMilliseconds;
    const waitMilliseconds = time - now - depthMilliseconds;
    // Allows 0.001 ms for rounding errors.
    if (waitMilliseconds > 0.001) {
      throw new Refusal('too_many_requests', { retryAfterSeconds: waitMilliseconds / 1_000 });
    }
    return time;
  };

  return {
    check: (key, cost = 1) => {
      addCost(key, cost, clock());
    },
    take: (key, cost = 1) => {
      const now = clock();
      const time = addCost(key, cost, now);
      if (paidOffAt.size >= maxKeys && !paidOffAt.has(key)) makeRoom(now);
      paidOffAt.set(key, time);
    },
    refund: (key, cost = 1) => {
      const time = paidOffAt.get(key);
      if (time !== undefined) paidOffAt.set(key, time - Math.min(cost, burst) * costMilliseconds);
    },
  };
};

/** Throws Refusal('too_many_requests'). */
export type TakeBrowserLimits = (c: Context, cost: CallCost) => void;

/**
 * Returns a function that charges a browser token's calls to the token, the address and the user. A call over its
 * address or user limit isn't charged to the token, so one visitor can't use up a whole site's limit.
 */
export const createBrowserLimits = (
  rates: RateLimits,
  addressOf: AddressOf,
  clock?: () => number,
): TakeBrowserLimits => {
  const limits = Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => [name, createRateLimit(rate, clock)]),
  ) as Record<keyof RateLimits, RateLimit>;
  return (c, { token, user, events, bytes, createdContacts }) => {
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
    if (createdContacts > 0)
      counts.push(
        [limits.createContactAddress, address, createdContacts],
        [limits.createContactUser, userKey, createdContacts],
      );
    takeAll(counts.flatMap(([limit, key, cost]) => (key === undefined ? [] : [[limit, key, cost]])));
  };
};
