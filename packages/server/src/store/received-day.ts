/** On which day something is kept: a number of days since 1970 that never goes back, whatever the clock does. */
import { limits } from '@firsthand/contract/limits';

/** Days on which a repeat is looked for: today, 7 more, and one because a clock that is put right can make two of one. */
export const daysKept = limits.repeatDays + 2;

const dayMilliseconds = 86_400_000;

/** So far ahead of the clock, a day waits until the clock has come up with it. */
const mostAheadDays = 7;

export interface DayUnderWay {
  /** The last day on which something was kept. */
  readonly day: number;
  /** The day that the clock showed last. */
  readonly clockDay: number;
}

const toDay = (time: number): number => Math.floor(time / dayMilliseconds);

/**
 * What is under way when something is received at a time. After a clock that was far ahead has been put right, each
 * further day of the clock is one day more, so that days go on being days.
 */
export const dayAt = ({ day, clockDay }: DayUnderWay, receivedTime: number): DayUnderWay => {
  const today = toDay(receivedTime);
  const isCatchingUp = today <= day && today > clockDay && day - today > mostAheadDays;
  // A clock that is set over midnight and back makes no new day each time.
  const isOtherDay = today > clockDay || today < clockDay - 1;
  return { day: isCatchingUp ? day + 1 : Math.max(day, today), clockDay: isOtherDay ? today : clockDay };
};
