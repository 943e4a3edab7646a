/** The one order of events and statements, and the day that is under way. */
import { dayAt } from '../received-day.ts';
import type { Connection } from './connection.ts';
import type { Pending } from './transaction.ts';

interface At {
  sequence: number;
  day: number;
  /** The day that the clock showed last. */
  clockDay: number;
}

export interface Position extends Pending {
  /** The next sequence: greater than all before it, and never given twice. */
  nextSequence(): number;
  /** The day of something received at a time. It never goes back, whatever the clock does: see received-day.ts. */
  dayOf(receivedTime: number): number;
  /** The last sequence that was given. */
  readonly sequence: number;
  /** The last day on which an event was kept. */
  readonly day: number;
}

/** What stands in the database is nothing that this program writes. SQLite has no checksums that would say so. */
const isDamaged = (db: Connection): boolean =>
  db
    .prepare<[], number>(`
      SELECT sequence < max(
          packed,
          indexed,
          remembered,
          coalesce((SELECT max(through) FROM event_block), 0),
          coalesce((SELECT max(sequence) FROM statement), 0)
        )
        OR indexed <> coalesce((SELECT max(through) FROM event_segment), indexed)
        OR indexed > coalesce((SELECT max(through) FROM event_segment), (SELECT min(through) - 1 FROM event_block), indexed)
      FROM position`)
    .pluck()
    .get() !== 0;

/** Throws when the database holds what comes after its position. */
export const createPosition = (db: Connection): Position => {
  if (isDamaged(db)) throw new Error('its position is damaged: it holds what comes after it; restore a backup');
  const read = db.prepare<[], At>('SELECT sequence, day, clockDay FROM position');
  const write = db.prepare('UPDATE position SET sequence = ?, day = ?, clockDay = ?');
  let at = read.get() as At;
  let saved = at.sequence;
  return {
    nextSequence() {
      at.sequence += 1;
      return at.sequence;
    },
    dayOf(receivedTime) {
      Object.assign(at, dayAt(at, receivedTime));
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
      write.run(at.sequence, at.day, at.clockDay);
      saved = at.sequence;
    },
    forget() {
      at = read.get() as At;
      saved = at.sequence;
    },
  };
};
