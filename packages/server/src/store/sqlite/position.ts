/** The one order of events and statements, and the day that is under way. */
import type { Connection } from './connection.ts';
import type { Pending } from './transaction.ts';

const dayMilliseconds = 86_400_000;

export interface Position extends Pending {
  /** The next sequence: greater than all before it, and never given twice. */
  nextSequence(): number;
  /** The day of something received at a time. It never goes back, whatever the clock does. */
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
  return {
    nextSequence() {
      at.sequence += 1;
      return at.sequence;
    },
    dayOf(receivedTime) {
      at.day = Math.max(at.day, Math.floor(receivedTime / dayMilliseconds));
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
    },
  };
};
