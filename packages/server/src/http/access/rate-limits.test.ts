import type { Context } from 'hono';
import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../shared/refusal.ts';
import type { CallCost } from './call-cost.ts';
import { createBrowserLimits, createRateLimit, defaultRateLimits, type Rate } from './rate-limits.ts';

/** Creates a limit. `take` returns true, or the number of seconds to wait. */
const setUp = (rate: Rate) => {
  let now = 1_000_000;
  const limit = createRateLimit(rate, () => now);
  const take = (key = 'a', cost = 1) => {
    try {
      limit.take(key, cost);
      return true;
    } catch (error) {
      return (error as Refusal).retryAfterSeconds;
    }
  };
  const count = (tries: number, key = 'a') =>
    Array.from({ length: tries }, () => take(key)).filter((x) => x === true).length;
  return { limit, take, count, pass: (seconds: number) => (now += seconds * 1_000) };
};

describe('a rate limit', () => {
  it('allows a burst, then requests at its rate', () => {
    const { count, pass } = setUp({ perSecond: 10, burst: 20 });
    expect(count(30)).toBe(20);
    pass(0.5);
    expect(count(30)).toBe(5);
    pass(100);
    expect(count(30)).toBe(20);
  });

  it('reports when to retry, and allows the retry', () => {
    const { count, take, pass } = setUp({ perSecond: 0.5, burst: 3 });
    expect(count(3)).toBe(3);
    const seconds = take() as number;
    expect(seconds).toBeCloseTo(2);
    pass(seconds - 0.1);
    expect(take()).not.toBe(true);
    pass(0.1);
    expect(take()).toBe(true);
  });

  it('counts a batch by its events, and allows a batch larger than the burst after a pause', () => {
    const { take, pass } = setUp({ perSecond: 10, burst: 100 });
    expect(take('a', 60)).toBe(true);
    expect(take('a', 60)).toBeCloseTo(2);
    expect(take('a', 40)).toBe(true);
    pass(10);
    expect(take('a', 1_000)).toBe(true);
    expect(take('a', 1)).not.toBe(true);
  });

  it('counts each key separately', () => {
    const { count } = setUp({ perSecond: 1, burst: 5 });
    expect([count(9, 'a'), count(9, 'b')]).toEqual([5, 5]);
  });

  it('does not count refunded costs', () => {
    const { limit, count } = setUp({ perSecond: 1, burst: 5 });
    for (let tries = 0; tries < 100; tries++) {
      limit.take('a');
      limit.refund('a');
    }
    expect(count(9)).toBe(5);
    limit.refund('never seen');
  });

  it('drops fully recovered keys first when it is full', () => {
    const { count, take, pass } = setUp({ perSecond: 1, burst: 5 });
    for (let key = 0; key < 100_000; key++) take(`rested ${key}`);
    pass(60);
    expect(count(9, 'busy')).toBe(5);
    for (let key = 0; key < 90_000; key++) take(`newer ${key}`);
    expect(take('busy')).not.toBe(true);
  });

  it('does not drop an exhausted key when flooded with keys that are used only once', () => {
    const { count, take } = setUp({ perSecond: 0.001, burst: 5 });
    expect(count(9, 'hostile')).toBe(5);
    for (let key = 0; key < 300_000; key++) take(`key ${key}`);
    expect(take('hostile')).not.toBe(true);
  });

  it('drops the oldest key when no key has fully recovered', () => {
    const { take } = setUp({ perSecond: 0.001, burst: 1 });
    for (let key = 0; key < 100_000; key++) take(`key ${key}`);
    expect(take('key 0')).not.toBe(true);
    take('one more');
    expect([take('key 0'), take('key 99999')]).toEqual([true, expect.any(Number)]);
  });

  it('allows at most 20 unknown tokens in any minute', () => {
    const { count, pass } = setUp(defaultRateLimits.unknownToken);
    const minutes = Array.from({ length: 600 }, () => {
      pass(1);
      return count(50);
    });
    for (let from = 0; from + 60 <= minutes.length; from++) {
      expect(minutes.slice(from, from + 60).reduce((sum, some) => sum + some)).toBeLessThanOrEqual(20);
    }
  });
});

describe('a browser call', () => {
  const wide: Rate = { perSecond: 1, burst: 100 };
  const narrow: Rate = { perSecond: 1, burst: 2 };
  const none = {
    tokenBytes: wide,
    addressBytes: wide,
    userBytes: wide,
    token: wide,
    address: wide,
    user: wide,
    createContactAddress: wide,
    createContactUser: wide,
  };

  it.each([
    ['its address’s limit', { address: narrow }, {}],
    ['its user’s limit', { user: narrow }, {}],
    ['its address’s byte limit', { addressBytes: narrow }, { bytes: 1 }],
    ['its user’s byte limit', { userBytes: narrow }, { bytes: 1 }],
    ['its address’s contact limit', { createContactAddress: narrow }, { createdContacts: 1 }],
    ['its user’s contact limit', { createContactUser: narrow }, { createdContacts: 1 }],
  ])('beyond %s does not count against the token', (_, rates, call) => {
    const take = createBrowserLimits(
      { ...defaultRateLimits, ...none, ...rates },
      (c) => c as unknown as string,
      () => 0,
    );
    const count = (tries: number, name: string, more: Partial<CallCost> = {}) => {
      let passed = 0;
      for (let attempt = 0; attempt < tries; attempt++) {
        try {
          take(name as unknown as Context, {
            token: 1,
            user: name,
            events: 1,
            bytes: 0,
            createdContacts: 0,
            ...more,
          });
          passed++;
        } catch {}
      }
      return passed;
    };
    expect(count(1_000, 'greedy', call)).toBe(2);
    const others = Array.from({ length: 200 }, (_, other) => count(1, `other ${other}`));
    expect(others.filter((passed) => passed === 1)).toHaveLength(98);
  });
});
