import { afterEach, expect, test, vi } from 'vitest';
import { computeRetryMilliseconds } from './backoff.ts';

afterEach(() => vi.restoreAllMocks());

test.for([
  { failures: 1, retryAfterSeconds: 0, min: 0, max: 1_000 },
  { failures: 3, retryAfterSeconds: 0, min: 0, max: 4_000 },
  { failures: 30, retryAfterSeconds: 0, min: 0, max: 300_000 },
  { failures: 5_000, retryAfterSeconds: 0, min: 0, max: 300_000 },
  { failures: 1, retryAfterSeconds: 20, min: 20_000, max: 21_000 },
  { failures: 1, retryAfterSeconds: undefined, min: 0, max: 1_000 },
  { failures: 1, retryAfterSeconds: Number.NaN, min: 0, max: 1_000 },
  { failures: 1, retryAfterSeconds: 2e9, min: 1e9, max: 1e9 + 1_000 },
])(
  'waits $min to $max ms after $failures failures and Retry-After $retryAfterSeconds',
  ({ failures, retryAfterSeconds, min, max }) => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    expect(computeRetryMilliseconds(failures, retryAfterSeconds)).toBe(min);
    random.mockReturnValue(1);
    expect(computeRetryMilliseconds(failures, retryAfterSeconds)).toBe(max);
  },
);
