import { describe, expect, it } from 'vitest';
import { maxAttempts, nextAttemptTime, pauseAfter } from './schedule.ts';

const seconds = (attempts: number, random = 0) => (nextAttemptTime(attempts, 0, random) as number) / 1_000;

describe('the retry schedule', () => {
  it('retries a delivery nine times, after 5 s, 5 min, 30 min, and 2, 5, 10, 14, 20 and 24 h', () => {
    const pauses = Array.from({ length: maxAttempts - 1 }, (_, nth) => seconds(nth + 1));
    expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(nextAttemptTime(maxAttempts, 0, 0)).toBeNull();
  });

  it('adds up to a tenth to each pause', () => {
    expect(seconds(2, 1)).toBe(330);
    expect(nextAttemptTime(1, 1_000, 0.5)).toBe(1_000 + 5_250);
  });

  it('pauses a failing webhook for 5 s to 5 min', () => {
    const pauses = Array.from({ length: 8 }, (_, nth) => pauseAfter(nth + 1) / 1_000);
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    expect(pauseAfter(10_000)).toBe(300_000);
  });

  it('honors Retry-After, up to an hour', () => {
    expect(pauseAfter(1, 120)).toBe(120_000);
    expect(pauseAfter(3, 1)).toBe(20_000);
    expect(pauseAfter(1, 999_999_999)).toBe(3_600_000);
  });
});
