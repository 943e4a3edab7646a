/** The one order of events and statements, and the day that is under way. */
import type { Connection } from './connection.ts';
import type { Pending } from './transaction.ts';

const dayMilliseconds = 86_400_000;

/** So far ahead of the clock, a day waits until the clock has come up with it. */
const mostAheadDays = 7;

const toDay = (time: number): number => Math.floor(time / dayMilliseconds);

export interface Position extends Pending {
  /** The next sequence: greater than all before it, and never given twice. */
  nextSequence(): number;
  /**
   * The day of something received at a time. It never goes back, whatever the clock does. After a clock that was far ahead
   * has been put right, each further day of the clock is one day more, so that days go on being days.
   */
  dayOf(receivedTime: number): number;
  /** The last sequence that was given. */
  readonly sequence: number;
  /** The last day on which an event was kept. */
  readonly day: number;
}

export const createPosition = (db: Connection): Position => {
  const read = db.prepare<[], { sequence: number; day: number }>('SELECT sequence, day FROM position');
  const write = db.prepare('UPDATE position SET sequence = ?, day = ?');
  let at = read.get() as { sequence: number; day: number };
  let saved = at.sequence;
  const lastReceived = db.prepare<[], number>('SELECT receivedTime FROM event ORDER BY sequence DESC LIMIT 1').pluck();
  const readClockDay = () => {
    const time = lastReceived.get();
    return time === undefined ? at.day : toDay(time);
  };
  /** The day that the clock showed last. */
  let clockDay = readClockDay();
  return {
    nextSequence() {
      at.sequence += 1;
      return at.sequence;
    },
    dayOf(receivedTime) {
      const today = toDay(receivedTime);
      if (today > at.day) at.day = today;
      else if (today > clockDay && at.day - today > mostAheadDays) at.day += 1;
      // A clock that is set over midnight and back makes no new day each time.
      if (today > clockDay || today < clockDay - 1) clockDay = today;
      return at.day;
    },
    get sequence() {
      return at.sequence;
    },
    get day() {
      return at.day;
    },
    flush() {
      if (at.sequence === saved) return;
      write.run(at.sequence, at.day);
      saved = at.sequence;
    },
    forget() {
      at = read.get() as typeof at;
      saved = at.sequence;
      clockDay = readClockDay();
    },
  };
};
