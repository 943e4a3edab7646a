/** The oldest events, as far as their received times can be believed. */
import type { Connection } from './connection.ts';
import { receivedTimeAt, sequenceAt, sizeOf } from './event-block.ts';
import { createBlockReader, type StoredBlock } from './event-blocks.ts';

/** An event in its block. */
export interface PlacedEvent {
  readonly stored: StoredBlock;
  readonly index: number;
}

export const createOldEvents = (db: Connection) => {
  const blocks = createBlockReader(db);
  const receivedTimeOf = ({ stored, index }: PlacedEvent) => receivedTimeAt(stored.block, index);
  const sequenceOf = ({ stored, index }: PlacedEvent) => sequenceAt(stored.block, index);

  /** In order, those after a sequence. */
  function* eventsAfter(sequence: number): Generator<PlacedEvent> {
    for (let stored = blocks.after(sequence); stored; stored = blocks.after(stored.through)) {
      for (let index = 0; index < sizeOf(stored.block); index += 1) {
        if (sequenceAt(stored.block, index) > sequence) yield { stored, index };
      }
    }
  }

  const oldest = (most: number): PlacedEvent[] => {
    const found: PlacedEvent[] = [];
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
  /** After a long time of a wrong clock it is far to go: found once, it is good until all before it are gone. */
  let believable = { sequence: -1, receivedTime: Infinity };

  /**
   * Up to `most` events, in order from the first, that were received before a time. One that says that it was received
   * after `now` was stamped by a clock that was ahead: it is as old as the next that can be believed.
   */
  return ({ time, most, now }: { time: number; most: number; now: number }): PlacedEvent[] => {
    const candidates = oldest(most);
    const isYoung = (event: PlacedEvent) => receivedTimeOf(event) >= time && receivedTimeOf(event) <= now;
    const at = candidates.findIndex(isYoung);
    const before = at < 0 ? candidates : candidates.slice(0, at);
    const last = before.at(-1);
    if (!last || receivedTimeOf(last) < time) return before;
    // What is before it is so far all ahead, from the last that is old.
    if (at < 0) {
      if (believable.sequence <= sequenceOf(last)) believable = nextBelievable(sequenceOf(last), now);
      if (believable.receivedTime < time) return before;
    }
    return before.slice(0, before.findLastIndex((event) => receivedTimeOf(event) < time) + 1);
  };
};
