import { afterEach, expect, test, vi } from 'vitest';
import { retryMilliseconds } from './backoff.ts';

afterEach(() => vi.restoreAllMocks());

test.for([
  { failures: 1, retryAfterSeconds: 0, least: 0, most: 1_000 },
  { failures: 3, retryAfterSeconds: 0, least: 0, most: 4_000 },
  { failures: 30, retryAfterSeconds: 0, least: 0, most: 300_000 },
  { failures: 5_000, retryAfterSeconds: 0, least: 0, most: 300_000 },
  { failures: 1, retryAfterSeconds: 20, least: 20_000, most: 21_000 },
  { failures: 1, retryAfterSeconds: undefined, least: 0, most: 1_000 },
  { failures: 1, retryAfterSeconds: Number.NaN, least: 0, most: 1_000 },
  { failures: 1, retryAfterSeconds: 2e9, least: 1e9, most: 1e9 + 1_000 },
])(
  'after $failures failures and Retry-After $retryAfterSeconds: $least to $most',
  ({ failures, retryAfterSeconds, least, most }) => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    expect(retryMilliseconds(failures, retryAfterSeconds)).toBe(least);
    random.mockReturnValue(1);
    expect(retryMilliseconds(failures, retryAfterSeconds)).toBe(most);
  },
);
