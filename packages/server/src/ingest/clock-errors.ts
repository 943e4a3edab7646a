/**
 * Estimates the error of each browser's clock. The difference between a request's arrival and its sentTime is the sum of the
 * clock's error and the request's time in transit. Correcting by the whole difference would put the event of a slow request after
 * one that was logged later. So an estimate is used for all requests of a browser until no plausible transit time explains the
 * difference (decisions/0004).
 */
import { BoundedMap } from '../shared/bounded-map.ts';

/** The longest plausible transit time. A tracker gives up a request after 15 s, but a proxy may still deliver it later. */
const longestMilliseconds = 60_000;
/** The shortest plausible transit time. It is negative because synchronized clocks still differ by about a second. */
const leastMilliseconds = -1_000;
/** Only the errors of wrong clocks are stored. */
const maxWrongClocks = 10_000;

/**
 * Returns the milliseconds to add to this browser's times, given a request received `lateMilliseconds` after its sentTime
 * (negative: before it). A clock counts as right until a request shows that it is wrong. An error that was forgotten, at the end of
 * the process or because too many clocks are wrong, is estimated again from the next request.
 */
type ClockErrorOf = (browser: string, lateMilliseconds: number) => number;

export const createClockErrors = (): ClockErrorOf => {
  const errors = new BoundedMap<string, number>(maxWrongClocks);
  return (browser, lateMilliseconds) => {
    const believed = errors.get(browser);
    // The request that showed the error may have been slow itself. Another estimate would change the order of the page's events.
    if (believed !== undefined && Math.abs(lateMilliseconds - believed) <= longestMilliseconds) return believed;
    errors.delete(browser);
    if (lateMilliseconds >= leastMilliseconds && lateMilliseconds <= longestMilliseconds) return 0;
    errors.set(browser, lateMilliseconds);
    return lateMilliseconds;
  };
};
