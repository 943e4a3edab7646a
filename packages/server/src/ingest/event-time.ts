import { endOfTime } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import { dayMilliseconds } from '../shared/time.ts';
import type { NewEvent } from '../store/store.ts';

const aheadMilliseconds = limits.eventAheadMinutes * 60_000;

/** The request facts that its events depend on. */
export interface RequestContext {
  /** When the request arrived (for a replay: first arrived), in milliseconds since 1970. */
  readonly receivedTime: number;
  /** Milliseconds to add to times from the sender's clock. */
  readonly clockError: number;
  readonly fromBrowser: boolean;
  /** Whether the sender confirmed that unlikely times are correct. */
  readonly imported?: boolean;
  /** The maximum age of a browser's event, in days; default: limits.eventAgeDays. */
  readonly eventAgeDays?: number | undefined;
  readonly robot?: boolean;
  /** Attributes added by the service. */
  readonly labels?: NewEvent['attributes'] | undefined;
}

/**
 * Returns when an event happened, in milliseconds since 1970: the client's time, corrected for its clock error, or the
 * received time if there is none.
 *
 * A browser's time more than 7 days ago or 5 minutes ahead is replaced with the received time (`timeReplaced`). A
 * server's time is replaced only if the corrected time is outside the years 1970 to 9999.
 */
export const eventTimeOf = (
  clientTime: number | undefined,
  { receivedTime, clockError, fromBrowser, eventAgeDays = limits.eventAgeDays }: RequestContext,
): { eventTime: number; timeReplaced: boolean } => {
  if (clientTime === undefined) return { eventTime: receivedTime, timeReplaced: false };
  const corrected = clientTime + clockError;
  const earliest = fromBrowser ? receivedTime - eventAgeDays * dayMilliseconds : 0;
  const latest = fromBrowser ? receivedTime + aheadMilliseconds : endOfTime - 1;
  const isPlausible = corrected >= earliest && corrected <= latest;
  return { eventTime: isPlausible ? corrected : receivedTime, timeReplaced: !isPlausible };
};

const yearMilliseconds = 365 * dayMilliseconds;
/** Earlier times predate the web. */
const earliestLikely = Date.UTC(1990, 0);

/**
 * Explains why a server's event time is unlikely, in a message that follows the field's name; undefined if it is
 * likely. Always undefined for browsers, whose unlikely times are replaced instead.
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
  const how = clockError === 0 ? 'is' : 'corrected by `sentTime` is';
  const when = corrected < earliestLikely ? 'before 1990' : 'more than a year ahead';
  return `${how} ${when}. Send milliseconds or ISO 8601; if the time is right, also send \`import\`: true.`;
};
