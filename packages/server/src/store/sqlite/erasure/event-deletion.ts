/** Finds a user's, contact's or account's events to delete, and deletes them with their keys and counts. */
import type { Connection } from '../database/connection.ts';
import {
  createEventLogReader,
  type EventLogWriter,
  type EventPlace,
  eventAt,
  holderOf,
  type Source,
} from '../event-log/event-log.ts';
import type { Dedup } from '../events/dedup.ts';
import { createOldEvents } from '../events/old-events.ts';
import type { Rollups } from '../events/rollups.ts';

/** The costs of rewriting a block, of a pause in the search, and of finishing a stretch or contact, in events. */
const costOfBlock = 10;
const costOfPause = 100;
const costOfEnd = 3;

interface DeletionParts {
  readonly dedup: Dedup;
  readonly rollups: Rollups;
  readonly log: EventLogWriter;
}

export const createEventDeletion = (db: Connection, { dedup, rollups, log }: DeletionParts) => {
  const reader = createEventLogReader(db);
  const noProgress = { of: '', after: 0 };
  /** The stretch or contact whose events are being deleted, and the sequence up to which they are deleted. */
  let progress = noProgress;

  /** Returns some of a source's remaining events, the cost of finding them, and whether they are the last. */
  const findNext = (
    source: Omit<Source, 'eventID'>,
    maxCost: number,
  ): { places: EventPlace[]; cost: number; areLast: boolean } => {
    const places: EventPlace[] = [];
    const of = `${source.what} ${source.number} ${source.after}`;
    if (progress.of !== of) progress = { of, after: source.after };
    const range = { after: progress.after, through: source.through };
    let cost = 0;
    for (const match of reader.find([{ ...source, eventID: 0 }], [range], 'asc')) {
      if (typeof match === 'number') {
        progress.after = match;
        cost += costOfPause;
      } else {
        for (const index of match.indexes) places.push({ stored: match, index });
        progress.after = match.reached;
        cost += costOfBlock + match.indexes.length;
      }
      if (cost >= maxCost) return { places, cost, areLast: false };
    }
    return { places, cost: cost + costOfEnd, areLast: true };
  };

  return {
    findOld: createOldEvents(reader),
    findNext,

    /** Searches for events that were logged with a contact. `hasEvent` is undefined until the search is complete. */
    findEvent(contact: number, maxCost: number): { hasEvent: boolean | undefined; cost: number } {
      const all = { what: 'contact', number: contact, after: 0, through: Number.MAX_SAFE_INTEGER } as const;
      const { places, cost, areLast } = findNext(all, maxCost);
      if (places.length === 0 && !areLast) return { hasEvent: undefined, cost };
      // Resets the progress, because an erasure of the contact would otherwise continue after these events.
      progress = noProgress;
      return { hasEvent: places.length > 0, cost };
    },

    /** Deletes events and erases or drops their keys. */
    deleteEvents(places: readonly EventPlace[], keyAction: 'erase' | 'drop' = 'erase'): void {
      for (const { stored, index } of places) {
        const event = eventAt(stored.block, index);
        dedup[keyAction]({ ...event, holder: holderOf(event) });
        rollups.remove(event);
      }
      // Removes events from the log last, because `dedup` may read their keys from it.
      log.remove(places);
    },

    /** Frees the memory that searches use. */
    endSearch: (): void => reader.forget(),

    forget(): void {
      progress = noProgress;
      reader.forget();
    },
  };
};
