/**
 * Estimates the error of each browser's clock. The time between a request's sentTime and its arrival is the sum of the
 * clock's error and the transit time. Correcting by the whole difference would reorder the events in slow requests.
 *
 * So a browser's estimate stays in use until no plausible transit time explains the difference (decisions/0004).
 */
import { BoundedMap } from '../shared/bounded-map.ts';

/**
 * The longest plausible transit time. A tracker gives up on a request after 15 s, but a proxy might still deliver it
 * later.
 */
const maxTransitMilliseconds = 60_000;
/** The shortest plausible transit time. Negative because synchronized clocks still differ by about a second. */
const minTransitMilliseconds = -1_000;
/** The maximum number of cached errors. Correct clocks are not cached. */
const maxWrongClocks = 10_000;

/**
 * Returns the milliseconds to add to this browser's times, given a request received `lateMilliseconds` after its
 * sentTime (negative: before it). A clock is assumed to be correct until a request shows that it is wrong. An evicted
 * estimate is recomputed from the next request.
 */
type ClockErrorOf = (browser: string, lateMilliseconds: number) => number;

export const createClockErrorEstimator = (): ClockErrorOf => {
  const errors = new BoundedMap<string, number>(maxWrongClocks);
  return (browser, lateMilliseconds) => {
    const estimate = errors.get(browser);
    // The estimate might include transit time, but a new one would reorder the page's events.
    if (estimate !== undefined && Math.abs(lateMilliseconds - estimate) <= maxTransitMilliseconds) return estimate;
    errors.delete(browser);
    if (lateMilliseconds >= minTransitMilliseconds && lateMilliseconds <= maxTransitMilliseconds) return 0;
    errors.set(browser, lateMilliseconds);
    return lateMilliseconds;
  };
};
