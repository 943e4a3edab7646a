/** The last sequence and the current day: assigns the one order of events and statements. */
import { dayMilliseconds } from '../../../shared/time.ts';
import { dayAt } from '../../rules/received-day.ts';
import type { Connection } from '../database/connection.ts';

interface At {
  sequence: number;
  day: number;
  /** The last day that the clock showed. */
  clockDay: number;
}

/** Throws when the stored position is damaged. */
export const createSequencer = (db: Connection) => {
  // No write of this program makes the position contradict the other tables. SQLite has no checksums that would detect it.
  const isDamaged = db
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
    .pluck();
  if (isDamaged.get() !== 0) throw new Error('its position is damaged: it is before stored events; restore a backup');
  const read = db.prepare<[], At>('SELECT sequence, day, clockDay FROM position');
  const write = db.prepare('UPDATE position SET sequence = ?, day = ?, clockDay = ?');
  let at = read.get() as At;
  let saved = at.sequence;
  return {
    /** Returns the next sequence: greater than all before it, never reused. */
    nextSequence(): number {
      at.sequence += 1;
      return at.sequence;
    },
    /** Returns the day of something received at `receivedTime`. Days never go back: see received-day.ts. */
    dayOf(receivedTime: number, isPast = false): number {
      if (!isPast || receivedTime >= at.clockDay * dayMilliseconds) Object.assign(at, dayAt(at, receivedTime));
      return at.day;
    },
    /** The last sequence that was assigned. */
    get sequence() {
      return at.sequence;
    },
    /** The last day on which an event was stored. */
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
export type Sequencer = ReturnType<typeof createSequencer>;
