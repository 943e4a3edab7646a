import { limits } from '@firsthand/contract/limits';

const dayMilliseconds = 86_400_000;
const oldestMilliseconds = limits.eventAgeDays * dayMilliseconds;
const aheadMilliseconds = limits.eventAheadMinutes * 60_000;
/** The last time that ISO 8601 writes with four digits of year, and one more millisecond. */
const endOfTime = Date.UTC(10_000, 0);

export interface GivenTimes {
  /** When the client's clock says it happened. */
  readonly eventTime?: number | undefined;
  /** When the client's clock says it was sent; with it a wrong clock is corrected. */
  readonly sentTime?: number | undefined;
}

/**
 * When an event happened, in milliseconds since 1970: received + (eventTime − sentTime), so that a client's wrong clock
 * cancels out; without a sentTime the eventTime as given, without an eventTime the received time. A browser is not
 * believed past 7 days ago or 5 minutes ahead: its event gets the received time and `timeReplaced`. A server is, being
 * the account's own; only a correction that leads out of the calendar is replaced.
 */
export const eventTimeOf = (
  { eventTime, sentTime }: GivenTimes,
  receivedTime: number,
  fromBrowser: boolean,
): { eventTime: number; timeReplaced: boolean } => {
  if (eventTime === undefined) return { eventTime: receivedTime, timeReplaced: false };
  const corrected = sentTime === undefined ? eventTime : receivedTime + eventTime - sentTime;
  const earliest = fromBrowser ? receivedTime - oldestMilliseconds : 0;
  const latest = fromBrowser ? receivedTime + aheadMilliseconds : endOfTime - 1;
  const believable = corrected >= earliest && corrected <= latest;
  return { eventTime: believable ? corrected : receivedTime, timeReplaced: !believable };
};
