import { limits } from '@firsthand/contract/limits';

const dayMilliseconds = 86_400_000;
const oldestMilliseconds = limits.eventAgeDays * dayMilliseconds;
const aheadMilliseconds = limits.eventAheadMinutes * 60_000;
/** The last time that ISO 8601 writes with four digits of year, and one more millisecond. */
const endOfTime = Date.UTC(10_000, 0);

/** How a request came. */
export interface Arrival {
  /** For the first time, if it was refused before. */
  readonly receivedTime: number;
  /** Milliseconds to add to what its sender's clock says. */
  readonly clockError: number;
  readonly fromBrowser: boolean;
}

/**
 * When an event happened, in milliseconds since 1970: what the client says, corrected by the error of its clock, or the
 * received time when it says nothing. A browser is not believed past 7 days ago or 5 minutes ahead: its event gets the
 * received time and `timeReplaced`. A server is, being the account's own; only a correction that leads out of the
 * calendar is replaced.
 */
export const eventTimeOf = (
  saidTime: number | undefined,
  { receivedTime, clockError, fromBrowser }: Arrival,
): { eventTime: number; timeReplaced: boolean } => {
  if (saidTime === undefined) return { eventTime: receivedTime, timeReplaced: false };
  const corrected = saidTime + clockError;
  const earliest = fromBrowser ? receivedTime - oldestMilliseconds : 0;
  const latest = fromBrowser ? receivedTime + aheadMilliseconds : endOfTime - 1;
  const believable = corrected >= earliest && corrected <= latest;
  return { eventTime: believable ? corrected : receivedTime, timeReplaced: !believable };
};
