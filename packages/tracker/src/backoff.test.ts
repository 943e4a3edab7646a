import { expect, test } from 'vitest';
import { retryMilliseconds } from './backoff.ts';

test.for([
  { failures: 1, retryAfterSeconds: 0, least: 0, most: 1_000 },
  { failures: 3, retryAfterSeconds: 0, least: 0, most: 4_000 },
  { failures: 30, retryAfterSeconds: 0, least: 0, most: 300_000 },
  { failures: 5_000, retryAfterSeconds: 0, least: 0, most: 300_000 },
  { failures: 1, retryAfterSeconds: 20, least: 20_000, most: 21_000 },
  { failures: 1, retryAfterSeconds: Number.NaN, least: 0, most: 1_000 },
  { failures: 1, retryAfterSeconds: 1e9, least: 2e9, most: 2e9 },
])(
  'after $failures failures and Retry-After $retryAfterSeconds: $least to $most',
  ({ failures, retryAfterSeconds, least, most }) => {
    expect(retryMilliseconds(failures, retryAfterSeconds, () => 0)).toBe(least);
    expect(retryMilliseconds(failures, retryAfterSeconds, () => 1)).toBe(most);
  },
);
