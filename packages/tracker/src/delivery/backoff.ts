/**
 * Returns the delay before the next attempt: the seconds in Retry-After (a date is ignored) plus random jitter. The
 * jitter is at most 1 second after the first failure, and doubles with each further failure up to 5 minutes.
 */
export const computeRetryMilliseconds = (
  failures: number,
  retryAfterSeconds: string | number | null | undefined,
): number =>
  // Retry-After is limited, because setTimeout fires immediately if the delay exceeds 31 bits of milliseconds.
  Math.min(3e5, 500 * 2 ** failures) * Math.random() + (1e3 * Math.min(retryAfterSeconds as number, 1e6) || 0);
