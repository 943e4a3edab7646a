/**
 * Milliseconds until the next try: full jitter (random between nothing and a bound that doubles, up to 5 minutes), after
 * what the server's Retry-After asks for. `failures` counts from 1. A Retry-After that is a date counts as none.
 */
export const retryMilliseconds = (failures: number, retryAfterSeconds: string | number | null | undefined): number =>
  // setTimeout takes 31 bits of milliseconds, and fires at once when there are more.
  Math.min(3e5, 500 * 2 ** failures) * Math.random() + (1e3 * Math.min(retryAfterSeconds as number, 1e6) || 0);
