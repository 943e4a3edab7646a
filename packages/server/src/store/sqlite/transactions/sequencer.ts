/** Assigns sequences to events and statements, in a single order. Tracks the last sequence and the current day. */
import { dayMilliseconds } from '../../../shared/time.ts';
import { dayAt } from '../../rules/received-day.ts';
import type { Connection } from '../database/connection.ts';

interface Position {
  sequence: number;
  day: number;
  /** The clock's day when the last row was received. */
  clockDay: number;
}

/** Throws if the stored position is damaged. */
export const createSequencer = (db: Connection) => {
  // Finds tables that contradict the position, which happens only if the file is damaged. SQLite has no checksums to
  // detect that.
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
  if (isDamaged.get() !== 0) throw new Error('its position is damaged: it is behind stored events; restore a backup');
  const read = db.prepare<[], Position>('SELECT sequence, day, clockDay FROM position');
  const write = db.prepare('UPDATE position SET sequence = ?, day = ?, clockDay = ?');
  let position = read.get() as Position;
  let saved = position.sequence;
  return {
    /** Returns the next sequence. */
    nextSequence(): number {
      position.sequence += 1;
      return position.sequence;
    },
    /** Returns the day for a row received at `receivedTime`. Days never decrease (received-day.ts). */
    dayOf(receivedTime: number, isSimulated = false): number {
      if (!isSimulated || receivedTime >= position.clockDay * dayMilliseconds)
        Object.assign(position, dayAt(position, receivedTime));
      return position.day;
    },
    /** The last assigned sequence. */
    get sequence() {
      return position.sequence;
    },
    /** The last day on which an event was stored. */
    get day() {
      return position.day;
    },
    flush() {
      if (position.sequence === saved) return;
      write.run(position.sequence, position.day, position.clockDay);
      saved = position.sequence;
    },
    forget() {
      position = read.get() as Position;
      saved = position.sequence;
    },
  };
};
export type Sequencer = ReturnType<typeof createSequencer>;
