/** The day under which rows are stored, in days since 1970. It never decreases, even if the clock is set back. */
import { limits } from '@firsthand/contract/limits';
import { dayMilliseconds } from '../../shared/time.ts';

/**
 * The days that are searched for repeats: today, the `repeatDays` before it, and one more, because a clock correction
 * can split a day.
 */
export const dedupDays = limits.repeatDays + 2;

/** How many days the stored day may be ahead of the clock and still stay unchanged until the clock reaches it. */
const maxAheadDays = 7;

export interface CurrentDay {
  /** The newest stored day. */
  readonly day: number;
  /** The clock's day when the last row was received. */
  readonly clockDay: number;
}

const toDay = (time: number): number => Math.floor(time / dayMilliseconds);

/**
 * Returns the day of a row received at this time. After the correction of a clock that was more than `maxAheadDays`
 * ahead, each new day of the clock adds one day.
 */
export const dayAt = ({ day, clockDay }: CurrentDay, receivedTime: number): CurrentDay => {
  const today = toDay(receivedTime);
  const isCatchingUp = today <= day && today > clockDay && day - today > maxAheadDays;
  // Does not add a day when a clock that was set back by at most one day passes midnight again.
  const isOtherDay = today > clockDay || today < clockDay - 1;
  return { day: isCatchingUp ? day + 1 : Math.max(day, today), clockDay: isOtherDay ? today : clockDay };
};

/** Whether a row received at this time starts a new day. */
export const startsNewDay = (current: CurrentDay, receivedTime: number): boolean => {
  const { day, clockDay } = dayAt(current, receivedTime);
  return day !== current.day || clockDay !== current.clockDay;
};
