/** Finds the oldest events, as far as their received times can be trusted. */
import { type EventLogReader, type EventPlace, receivedTimeAt, sequenceAt, sizeOf } from '../event-log/event-log.ts';

export const createOldEvents = (log: EventLogReader) => {
  const receivedTimeOf = ({ stored, index }: EventPlace) => receivedTimeAt(stored.block, index);
  const sequenceOf = ({ stored, index }: EventPlace) => sequenceAt(stored.block, index);

  /** The events after a sequence, in order. */
  function* eventsAfter(sequence: number): Generator<EventPlace> {
    for (const stored of log.blocksAfter(sequence)) {
      for (let index = 0; index < sizeOf(stored.block); index += 1) {
        if (sequenceAt(stored.block, index) > sequence) yield { stored, index };
      }
    }
  }

  const oldest = (most: number): EventPlace[] => {
    const found: EventPlace[] = [];
    for (const event of eventsAfter(0)) {
      if (found.length === most) break;
      found.push(event);
    }
    return found;
  };

  const nextBelievable = (sequence: number, now: number) => {
    for (const event of eventsAfter(sequence)) {
      const receivedTime = receivedTimeOf(event);
      if (receivedTime <= now) return { sequence: sequenceOf(event), receivedTime };
    }
    return { sequence: -1, receivedTime: Infinity };
  };
  /**
   * The next event with a credible time. After a long time of a wrong clock it is far away, so it is cached until all events before
   * it are deleted.
   */
  let believable = { sequence: -1, receivedTime: Infinity };

  /**
   * Returns up to `most` events, in order from the first, that were received before `time`. An event with a received time after
   * `now` was stamped by a clock that was ahead: it counts as old as the next event with a credible time.
   */
  return ({ time, most, now }: { time: number; most: number; now: number }): EventPlace[] => {
    const candidates = oldest(most);
    const isYoung = (event: EventPlace) => receivedTimeOf(event) >= time && receivedTimeOf(event) <= now;
    const at = candidates.findIndex(isYoung);
    const before = at < 0 ? candidates : candidates.slice(0, at);
    const last = before.at(-1);
    if (!last || receivedTimeOf(last) < time) return before;
    // The list ends with events that are ahead of the clock. If no recent event follows in `candidates`, the next credible one
    // decides whether they are old.
    if (at < 0) {
      if (believable.sequence <= sequenceOf(last)) believable = nextBelievable(sequenceOf(last), now);
      if (believable.receivedTime < time) return before;
    }
    return before.slice(0, before.findLastIndex((event) => receivedTimeOf(event) < time) + 1);
  };
};
