/** The oldest events, as far as their received times can be believed. */
import type { Connection } from './connection.ts';

export interface OldEvent {
  readonly sequence: number;
  readonly day: number;
  readonly account: number;
  readonly user: number | null;
  readonly contact: number | null;
  readonly eventID: number;
  readonly eventUUID: string;
  readonly eventTime: number;
  readonly receivedTime: number;
}

export const createOldEvents = (db: Connection) => {
  const oldest = db.prepare<[number], OldEvent>(`
    SELECT sequence, day, account, user, contact, eventID, eventUUID, eventTime, receivedTime
    FROM event ORDER BY sequence LIMIT ?`);
  const nextBelievable = db.prepare<[number, number], { sequence: number; receivedTime: number }>(
    'SELECT sequence, receivedTime FROM event WHERE sequence > ? AND receivedTime <= ? ORDER BY sequence LIMIT 1',
  );
  /** After a long time of a wrong clock it is far to go: found once, it is good until all before it are gone. */
  let believable = { sequence: -1, receivedTime: Infinity };

  /**
   * Up to `most` events, in order from the first, that were received before a time. One that says that it was received
   * after `now` was stamped by a clock that was ahead: it is as old as the next that can be believed.
   */
  return ({ time, most, now }: { time: number; most: number; now: number }): OldEvent[] => {
    const candidates = oldest.all(most);
    const at = candidates.findIndex(({ receivedTime }) => receivedTime >= time && receivedTime <= now);
    const before = at < 0 ? candidates : candidates.slice(0, at);
    const last = before.at(-1);
    if (!last || last.receivedTime < time) return before;
    // What is before it is so far all ahead, from the last that is old.
    if (at < 0) {
      if (believable.sequence <= last.sequence) {
        believable = nextBelievable.get(last.sequence, now) ?? { sequence: -1, receivedTime: Infinity };
      }
      if (believable.receivedTime < time) return before;
    }
    return before.slice(0, before.findLastIndex(({ receivedTime }) => receivedTime < time) + 1);
  };
};
