/** The day under which something is stored: a number of days since 1970 that never decreases, whatever the clock does. */
import { limits } from '@firsthand/contract/limits';
import { dayMilliseconds } from '../../shared/time.ts';

/** Days that are searched for a repeat: today, 7 earlier ones, and one more because correcting a clock can split one day into two. */
export const daysKept = limits.repeatDays + 2;

/** A stored day that is at most this far ahead of the clock stays until the clock reaches it. */
const maxAheadDays = 7;

export interface DayUnderWay {
  /** The newest day under which something is stored. */
  readonly day: number;
  /** The day that the clock last showed. */
  readonly clockDay: number;
}

const toDay = (time: number): number => Math.floor(time / dayMilliseconds);

/**
 * Returns the day for something that is received at a time. After a clock that was more than `maxAheadDays` ahead was
 * corrected, each new day of the clock adds one day.
 */
export const dayAt = ({ day, clockDay }: DayUnderWay, receivedTime: number): DayUnderWay => {
  const today = toDay(receivedTime);
  const isCatchingUp = today <= day && today > clockDay && day - today > maxAheadDays;
  // A clock that is set back by one day at most adds no day when it passes midnight again.
  const isOtherDay = today > clockDay || today < clockDay - 1;
  return { day: isCatchingUp ? day + 1 : Math.max(day, today), clockDay: isOtherDay ? today : clockDay };
};

/** Whether a day begins with something that is received at a time. */
export const hasDayToBegin = (begun: DayUnderWay, receivedTime: number): boolean => {
  const { day, clockDay } = dayAt(begun, receivedTime);
  return day !== begun.day || clockDay !== begun.clockDay;
};
