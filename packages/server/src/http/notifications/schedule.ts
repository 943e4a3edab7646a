/** Computes when digests are due and which range they cover, on the clocks of a time zone. */
import type { NotificationSettings } from '@firsthand/contract/notification';
import { createOffsetLookup, day, momentOf, startOf } from '../operations/calendar.ts';

const hour = 3_600_000;
const defaultHour = 8;

/** Returns the first time after `after` at which a digest is due. */
export const nextDigestTime = (settings: NotificationSettings, timeZone: string, after: number): number => {
  const { every = 'day', hour: ofDay = defaultHour, weekday = 1 } = settings;
  const offsetAt = createOffsetLookup(timeZone);
  const wall = after + offsetAt(after);
  const inPeriod = ofDay * hour + (every === 'week' ? (weekday - 1) * day : 0);
  // Starts a period earlier, because a change of the clocks can make the local time of `after` ambiguous.
  for (let later = -1; ; later += 1) {
    const moment = momentOf(startOf(wall, every, later) + inPeriod, offsetAt);
    if (moment > after) return moment;
  }
};

/** A server that was stopped for longer than this looks no further back for the digest that is due. */
const maxMissedMilliseconds = 8 * day;

/**
 * Returns the last time, from `dueTime` to `now`, at which a digest was due: after an outage, only the newest digest is
 * sent.
 */
export const lastDigestTime = (
  settings: NotificationSettings,
  timeZone: string,
  { dueTime, now }: { dueTime: number; now: number },
): number => {
  let last = dueTime;
  let next = nextDigestTime(settings, timeZone, Math.max(dueTime, now - maxMissedMilliseconds));
  while (next <= now) {
    last = next;
    next = nextDigestTime(settings, timeZone, next);
  }
  return last;
};

/** Returns the range of a digest that is due at `time`: the day or week before the one that contains it. */
export const rangeOfDigest = (
  { every = 'day' }: NotificationSettings,
  timeZone: string,
  time: number,
): { from: number; to: number } => {
  const offsetAt = createOffsetLookup(timeZone);
  const wall = time + offsetAt(time);
  const startAt = (later: number) => momentOf(startOf(wall, every, later), offsetAt);
  return { from: startAt(-1), to: startAt(0) };
};
