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
  /** Its sender says that its times are right, however unlikely. */
  readonly imported?: boolean;
  /** It comes from a robot. */
  readonly robot?: boolean;
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

const yearMilliseconds = 365 * dayMilliseconds;
/** Nothing was logged on the web before that. */
const earliestLikely = Date.UTC(1990, 0);

/**
 * Why a server's event can't have happened when it says, as the end of a message that begins with the field's name;
 * undefined when it can. A browser's is never refused for that: it gets the received time.
 */
export const unlikelyTime = (
  saidTime: number | undefined,
  { receivedTime, clockError, fromBrowser, imported }: Arrival,
): string | undefined => {
  if (saidTime === undefined || fromBrowser || imported) return undefined;
  const isLikely = (time: number) => time >= earliestLikely && time <= receivedTime + yearMilliseconds;
  if (isLikely(saidTime * 1_000)) {
    return `is ${saidTime}, a time in 1970. It looks like seconds; send milliseconds or ISO 8601.`;
  }
  const corrected = saidTime + clockError;
  if (isLikely(corrected)) return undefined;
  const how = clockError === 0 ? 'is' : 'with the correction by `sentTime` is';
  const when = corrected < earliestLikely ? 'before 1990' : 'more than a year ahead';
  return `${how} ${when}. Send milliseconds or ISO 8601; if the time is right, send \`import\`: true as well.`;
};
