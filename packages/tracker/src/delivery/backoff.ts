/**
 * Returns the delay until the next attempt: the seconds of Retry-After (a date is ignored) plus full jitter. The bound
 * of the jitter doubles with each failure, counted from 1, up to 5 minutes.
 */
export const computeRetryMilliseconds = (
  failures: number,
  retryAfterSeconds: string | number | null | undefined,
): number =>
  // Limited, because setTimeout fires immediately for more than 31 bits of milliseconds.
  Math.min(3e5, 500 * 2 ** failures) * Math.random() + (1e3 * Math.min(retryAfterSeconds as number, 1e6) || 0);
