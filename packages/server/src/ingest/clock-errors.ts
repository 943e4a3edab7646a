/**
 * How wrong each browser's clock is. What a request says of when it was sent tells its clock's error and its time on the
 * way in one sum, and correcting by that would put an event whose request was slow behind one that was logged later. So an
 * error is believed until no time on the way can explain what is seen, and until then the same correction goes for
 * all that the browser sends (decisions/0004).
 */

/** How long a request may have been on its way. */
const longestMilliseconds = 10_000;
/** How much less than nothing: clocks that are kept right are so to about a second. */
const leastMilliseconds = -1_000;
/** Clocks that are right need no memory. */
const mostWrongClocks = 10_000;

const canBeOnTheWay = (milliseconds: number): boolean =>
  milliseconds >= leastMilliseconds && milliseconds <= longestMilliseconds;

/**
 * Milliseconds to add to what this browser's clock says, in view of a request that was received `lateMilliseconds` after
 * (less than 0: before) the time at which it says it was sent. A clock counts as right until it is seen to be wrong. What
 * is forgotten, at the end of the process or when too many clocks are wrong, is learnt anew from the next request.
 */
export type ClockErrorOf = (browser: string, lateMilliseconds: number) => number;

export const createClockErrors = (): ClockErrorOf => {
  const errors = new Map<string, number>();
  return (browser, lateMilliseconds) => {
    const believed = errors.get(browser) ?? 0;
    if (canBeOnTheWay(lateMilliseconds - believed)) return believed;
    errors.delete(browser);
    if (canBeOnTheWay(lateMilliseconds)) return 0;
    const [oldest] = errors.keys();
    if (oldest !== undefined && errors.size >= mostWrongClocks) errors.delete(oldest);
    errors.set(browser, lateMilliseconds);
    return lateMilliseconds;
  };
};
