/** Computes when a failed delivery is retried, and how long a failing webhook pauses. */

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** The pauses between attempts, as Standard Webhooks recommends. */
const pauses = [
  ...[5 * second, 5 * minute, 30 * minute],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
] as const;

/** The maximum number of attempts, which together span three days. */
export const maxAttempts = pauses.length + 1;

/** The maximum fraction by which a pause is lengthened at random, so that retries to one endpoint spread out. */
const jitter = 0.1;

/**
 * Returns the time of the next attempt after `attempts` attempts, the last of which was at `time`; null if there is
 * none. `random` is between 0 and 1.
 */
export const nextAttemptTime = (attempts: number, time: number, random: number): number | null => {
  const pause = pauses[attempts - 1];
  return pause === undefined ? null : Math.round(time + pause * (1 + jitter * random));
};

const maxPause = 5 * minute;
const maxRetryAfter = hour;

/** Returns how long a webhook pauses after this many failures in a row. */
export const pauseAfter = (failures: number, retryAfterSeconds = 0): number =>
  Math.max(Math.min(5 * second * 2 ** (failures - 1), maxPause), Math.min(retryAfterSeconds * second, maxRetryAfter));
