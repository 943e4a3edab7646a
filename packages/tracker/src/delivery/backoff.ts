/**
 * Milliseconds until the next try: the seconds of Retry-After, plus full jitter (random between 0 and a bound that doubles, up to
 * 5 minutes). `failures` counts from 1. A Retry-After that is a date is ignored.
 */
export const retryMilliseconds = (failures: number, retryAfterSeconds: string | number | null | undefined): number =>
  // The limit is there because setTimeout fires at once for more than 31 bits of milliseconds.
  Math.min(3e5, 500 * 2 ** failures) * Math.random() + (1e3 * Math.min(retryAfterSeconds as number, 1e6) || 0);
