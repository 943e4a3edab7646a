/**
 * Milliseconds until the next try: full jitter (random between nothing and a bound that doubles, up to 5 minutes), after
 * what the server's Retry-After asks for. `failures` counts from 1. A Retry-After that is a date counts as none.
 */
export const retryMilliseconds = (
  failures: number,
  retryAfterSeconds: number | undefined,
  random: () => number,
): number =>
  // setTimeout takes 31 bits; more than that would fire at once.
  Math.min((retryAfterSeconds || 0) * 1e3 + random() * Math.min(3e5, 500 * 2 ** failures), 2e9);
