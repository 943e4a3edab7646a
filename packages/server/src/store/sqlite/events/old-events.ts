/** Finds the oldest events, even if some received times are implausible. */
import { chooseOld } from '../../rules/old-events.ts';
import { type EventLogReader, type EventPlace, receivedTimeAt, sequenceAt, sizeOf } from '../event-log/event-log.ts';

type OldEvent = EventPlace & { readonly sequence: number; readonly receivedTime: number };

export const createOldEvents = (log: EventLogReader) => {
  /** Yields the events after a sequence, in order. */
  function* eventsAfter(after: number): Generator<OldEvent> {
    for (const stored of log.blocksAfter(after)) {
      for (let index = 0; index < sizeOf(stored.block); index += 1) {
        const sequence = sequenceAt(stored.block, index);
        if (sequence > after) yield { stored, index, sequence, receivedTime: receivedTimeAt(stored.block, index) };
      }
    }
  }

  const findPlausible = (sequence: number, now: number) => {
    for (const event of eventsAfter(sequence)) if (event.receivedTime <= now) return event;
    return { sequence: -1, receivedTime: Infinity };
  };
  /**
   * The next event with a plausible time. After a long period with a wrong clock, that event is far away, so it is
   * cached until all events before it are deleted.
   */
  let nextPlausible = { sequence: -1, receivedTime: Infinity };

  /** Returns up to `limit` events that were received before `time`, in order from the first (chooseOld). */
  return ({ time, limit, now }: { time: number; limit: number; now: number }): EventPlace[] => {
    const candidates: OldEvent[] = [];
    for (const event of eventsAfter(0)) if (candidates.push(event) >= limit) break;
    const { old, ahead } = chooseOld(candidates, { time, now });
    const last = ahead.at(-1);
    if (!last) return old;
    if (nextPlausible.sequence <= last.sequence) nextPlausible = findPlausible(last.sequence, now);
    return nextPlausible.receivedTime < time ? candidates : old;
  };
};
