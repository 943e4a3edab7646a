import { endOfTime } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import { dayMilliseconds } from '../shared/time.ts';
import type { NewEvent } from '../store/store.ts';

const oldestMilliseconds = limits.eventAgeDays * dayMilliseconds;
const aheadMilliseconds = limits.eventAheadMinutes * 60_000;

/** When and from which sender a request arrived. */
export interface RequestContext {
  /** When the request arrived; when it first arrived, if it was refused before. In milliseconds since 1970. */
  readonly receivedTime: number;
  /** Milliseconds to add to the times of the sender's clock. */
  readonly clockError: number;
  readonly fromBrowser: boolean;
  /** Whether the sender has confirmed that its times are right, however unlikely. */
  readonly imported?: boolean;
  /** Whether it comes from a robot. */
  readonly robot?: boolean;
  /** The attributes that the service adds. */
  readonly labels?: NewEvent['attributes'] | undefined;
}

/**
 * When an event happened, in milliseconds since 1970: the client's time corrected by the error of its clock, or the received time
 * if the client sends none. A browser's time more than 7 days ago or 5 minutes ahead is replaced by the received time, with
 * `timeReplaced`. A server's time is replaced only if the correction leads out of the years 1970 to 9999.
 */
export const eventTimeOf = (
  clientTime: number | undefined,
  { receivedTime, clockError, fromBrowser }: RequestContext,
): { eventTime: number; timeReplaced: boolean } => {
  if (clientTime === undefined) return { eventTime: receivedTime, timeReplaced: false };
  const corrected = clientTime + clockError;
  const earliest = fromBrowser ? receivedTime - oldestMilliseconds : 0;
  const latest = fromBrowser ? receivedTime + aheadMilliseconds : endOfTime - 1;
  const believable = corrected >= earliest && corrected <= latest;
  return { eventTime: believable ? corrected : receivedTime, timeReplaced: !believable };
};

const yearMilliseconds = 365 * dayMilliseconds;
/** There was no web before that. */
const earliestLikely = Date.UTC(1990, 0);

/**
 * Why a server's event time is unlikely, as the end of a message that begins with the field's name; undefined if it is likely.
 * Always undefined for browsers, whose unlikely times are replaced instead.
 */
export const unlikelyTime = (
  clientTime: number | undefined,
  { receivedTime, clockError, fromBrowser, imported }: RequestContext,
): string | undefined => {
  if (clientTime === undefined || fromBrowser || imported) return undefined;
  const isLikely = (time: number) => time >= earliestLikely && time <= receivedTime + yearMilliseconds;
  if (isLikely(clientTime * 1_000)) {
    return `is ${clientTime}, a time in 1970. It looks like seconds; send milliseconds or ISO 8601.`;
  }
  const corrected = clientTime + clockError;
  if (isLikely(corrected)) return undefined;
  const how = clockError === 0 ? 'is' : 'with the correction by `sentTime` is';
  const when = corrected < earliestLikely ? 'before 1990' : 'more than a year ahead';
  return `${how} ${when}. Send milliseconds or ISO 8601; if the time is right, send \`import\`: true as well.`;
};
