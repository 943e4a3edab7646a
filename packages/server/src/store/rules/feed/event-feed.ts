/** Converts events to the columns of a feed (report-feed.ts). */
import type { AttributeColumn, EventFeedPage } from '../../report-feed.ts';
import { charactersOf, type EventRow } from '../event-row.ts';

/** A part ends when its attributes reach this size, in UTF-16 code units. A single event may exceed it. */
const maxCharacters = 4 * 1024 * 1024;
/**
 * A part also ends at this many distinct attributes, because each is copied separately and a page can send any number
 * of them.
 */
const maxAttributes = 5_000;

/** Dictionary-encodes an attribute: a repeated value takes 4 bytes. */
const createAttribute = (attrID: string) => {
  const rows: number[] = [];
  const which: number[] = [];
  const numbers = new Map<string, number>();
  return {
    add(row: number, attrValue: string): void {
      const number = numbers.get(attrValue) ?? numbers.size;
      if (number === numbers.size) numbers.set(attrValue, number);
      rows.push(row);
      which.push(number);
    },
    done: (): AttributeColumn => ({
      attrID,
      rows: Uint32Array.from(rows),
      which: Uint32Array.from(which),
      texts: [...numbers.keys()],
    }),
  };
};

/** Collects approximately `limit` events. */
export const createEventFeedPage = (limit: number) => {
  const events: EventRow[] = [];
  const attributes = new Map<string, ReturnType<typeof createAttribute>>();
  let characters = 0;
  const column = (toValue: (event: EventRow) => number) => Float64Array.from(events, toValue);
  return {
    /** Adds an event. Call it in sequence order. */
    add(event: EventRow): void {
      const row = events.push(event) - 1;
      characters += charactersOf(event);
      for (const [attrID, attrValue] of event.attributes) {
        const attribute = attributes.get(attrID) ?? createAttribute(attrID);
        attributes.set(attrID, attribute);
        attribute.add(row, attrValue);
      }
    },
    isFull: (): boolean => events.length >= limit || characters >= maxCharacters || attributes.size >= maxAttributes,
    done: (end: Pick<EventFeedPage, 'through' | 'more' | 'firstSequence'>): EventFeedPage => ({
      count: events.length,
      sequence: column(({ sequence }) => sequence),
      user: column(({ user }) => user ?? 0),
      contact: column(({ contact }) => contact ?? 0),
      eventID: Int32Array.from(events, ({ eventID }) => eventID),
      eventTime: column(({ eventTime }) => eventTime),
      attributes: [...attributes.values()].map(({ done }) => done()),
      ...end,
    }),
  };
};
