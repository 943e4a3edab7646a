/** Reading events, a page at a time, in the order in which they were kept. */
import { charactersOf } from '../attributes.ts';
import type { EventPage, EventQuery, StoredEvent } from '../store.ts';
import type { Connection } from './connection.ts';
import { createDayReader, toRanges } from './days.ts';
import { type EventBlock, eventAt, eventTimeAt, factsAt, hasAttribute, isRobot, sizeOf } from './event-block.ts';
import { createEventFinder, type EventFinder, type Order, type Range } from './event-finder.ts';
import { createEventSources } from './event-sources.ts';
import { createEventTeller } from './event-teller.ts';
import { eventsPerSegment } from './indexing.ts';
import type { Steps } from './steps.ts';

export interface PageBounds {
  /** A page ends when so many events were looked at, however few of them fit: one request is no endless one. */
  readonly mostRows: number;
  /** A page ends when its attributes take so much; one event may always be more. */
  readonly mostBytes: number;
}
const defaultBounds: PageBounds = { mostRows: 200_000, mostBytes: 4 * 1024 * 1024 };

/** What is left to ask of an event once its sources are chosen. */
const createMatcher = ({ eventID, from = 0, to = Infinity, attrID, attrValue, withoutRobots = false }: EventQuery) => {
  return (block: EventBlock, index: number): boolean => {
    if (eventID !== undefined && factsAt(block, index).eventID !== eventID) return false;
    const time = eventTimeAt(block, index);
    if (time < from || time >= to) return false;
    if (withoutRobots && isRobot(block, index)) return false;
    return attrID === undefined || hasAttribute(block, index, attrID, attrValue);
  };
};

/** The part of each range that lies within `bounds`, in the order in which they are looked at. */
const within = (ranges: readonly Range[], bounds: Range, order: Order): Range[] => {
  const parts = ranges.map(({ after, through }) => ({
    after: Math.max(after, bounds.after),
    through: Math.min(through, bounds.through),
  }));
  return order === 'asc' ? parts : parts.reverse();
};

export const createEventPager = (
  db: Connection,
  {
    bounds: { mostRows, mostBytes } = defaultBounds,
    finder = createEventFinder(db),
    mostBetween = eventsPerSegment,
  }: {
    bounds?: PageBounds | undefined;
    finder?: EventFinder;
    /** A visitor's days with at most so many events of others between them are read as one range. */
    mostBetween?: number | undefined;
  } = {},
) => {
  const daysOf = createDayReader(db);
  const sourcesOf = createEventSources(db);
  const createTeller = createEventTeller(db);
  const lastSequence = db.prepare<[], number>('SELECT sequence FROM position').pluck();

  return function* getEvents(query: EventQuery): Steps<EventPage> {
    const { account, order, limit, from, to } = query;
    const ascending = order === 'asc';
    const end = lastSequence.get() as number;
    const after = ascending ? (query.beyond ?? 0) : 0;
    const through = ascending ? end : Math.min(end, (query.beyond ?? end + 1) - 1);
    const accountDays = daysOf({ account, from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER, after, through });
    const { sources, days } = sourcesOf(query, accountDays);
    const matches = createMatcher(query);
    const teller = createTeller(account);
    const events: StoredEvent[] = [];
    let looked = 0;
    let bytes = 0;

    const always = from === undefined && to === undefined;
    // Of a visitor a segment names few blocks: to pass over its other days costs less than another range.
    const ofVisitor = days && toRanges(days, mostBetween);
    const ranges = ofVisitor ?? (always ? [{ after, through }] : toRanges(accountDays));
    const filter = always && query.attrID === undefined ? undefined : query;
    for (const found of finder.find(sources, within(ranges, { after, through }, order), order, filter)) {
      if (typeof found === 'number') {
        yield;
        continue;
      }
      const { block, indexes, reached } = found;
      for (const index of indexes) {
        if (!matches(block, index)) continue;
        const event = eventAt(block, index);
        if (teller.isErased(event)) continue;
        if (events.length === limit || bytes >= mostBytes) {
          const { sequence } = events.at(-1) as StoredEvent;
          return { events, next: sequence, through: sequence };
        }
        events.push(teller.tell(event));
        bytes += charactersOf(event);
      }
      looked += sizeOf(block);
      if (looked >= mostRows && (ascending ? reached < end : reached > 1)) {
        return { events, next: reached, through: reached };
      }
    }
    return { events, next: null, through: end };
  };
};
