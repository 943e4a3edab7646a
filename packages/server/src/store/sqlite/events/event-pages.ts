/** Reads events page by page, in sequence order. */
import { readEntryMerges, resolveIDs } from '../../operations/catalogues.ts';
import type { ResolvedQuery } from '../../rules/accounts/catalogue-rules.ts';
import { noMerges } from '../../rules/accounts/entry-merges.ts';
import { type PageBounds, pageBounds, sequencesOf } from '../../rules/event-pages.ts';
import { charactersOf } from '../../rules/event-row.ts';
import type { EventPage, EventQuery, StoredEvent } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import {
  createEventLogReader,
  type EventBlock,
  type EventLogReader,
  eventAt,
  eventsPerSegment,
  eventTimeAt,
  factsAt,
  hasAttribute,
  isRobot,
  type Order,
  type Range,
  sizeOf,
} from '../event-log/event-log.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createDayReader, toRanges } from './days.ts';
import { createEventPresenter } from './event-presenter.ts';
import { createEventSources } from './event-sources.ts';

/** Returns a function that checks those of the query's conditions that its sources don't guarantee. */
const createMatcher =
  ({ eventIDs, from = 0, to = Infinity, attrIDs, attrValue, withoutRobots = false }: ResolvedQuery<EventQuery>) =>
  (block: EventBlock, index: number): boolean => {
    if (eventIDs !== undefined && !eventIDs.includes(factsAt(block, index).eventID)) return false;
    const time = eventTimeAt(block, index);
    if (time < from || time >= to) return false;
    if (withoutRobots && isRobot(block, index)) return false;
    const attrID = attrIDs?.find((id) => hasAttribute(block, index, id));
    return attrIDs === undefined || (attrID !== undefined && hasAttribute(block, index, attrID, attrValue));
  };

/** Clips each range to `bounds`, and sorts them in reading order. */
const clip = (ranges: readonly Range[], bounds: Range, order: Order): Range[] => {
  const parts = ranges.map(({ after, through }) => ({
    after: Math.max(after, bounds.after),
    through: Math.min(through, bounds.through),
  }));
  return order === 'asc' ? parts : parts.reverse();
};

export const createEventPager = (
  db: Connection,
  {
    bounds: { maxExamined, maxCharacters } = pageBounds,
    log = createEventLogReader(db),
    maxBetween = eventsPerSegment,
  }: {
    bounds?: PageBounds | undefined;
    log?: EventLogReader;
    /** Days of a visitor with at most this many events between them are read as one range. */
    maxBetween?: number | undefined;
  } = {},
) => {
  const runOperation = createOperationRunner(db);
  const daysOf = createDayReader(db);
  const sourcesOf = createEventSources(db);
  const createPresenter = createEventPresenter(db);
  const lastSequence = db.prepare<[], number>('SELECT sequence FROM position').pluck();

  return function* getEvents(request: EventQuery): ChunkedRead<EventPage> {
    const { account, order, limit, from, to } = request;
    const ascending = order === 'asc';
    const end = lastSequence.get() as number;
    const merges = runOperation(readEntryMerges(account));
    const query = runOperation(resolveIDs(request, merges));
    const sequences = sequencesOf(query, end);
    const accountDays = daysOf({ account, from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER, ...sequences });
    const { sources, days } = sourcesOf(query, accountDays);
    const matches = createMatcher(query);
    const presenter = createPresenter(account, request.asSent ? noMerges : merges);
    const events: StoredEvent[] = [];
    let examined = 0;
    let characters = 0;

    const always = from === undefined && to === undefined;
    // Reads a visitor's inactive days too, because its postings list few blocks per segment, which costs less than
    // another range.
    const ofVisitor = days && toRanges(days, maxBetween);
    const ranges = ofVisitor ?? (always ? [sequences] : toRanges(accountDays));
    const filter = always && query.attrIDs === undefined ? undefined : query;
    for (const match of log.find(sources, clip(ranges, sequences, order), order, filter)) {
      if (typeof match === 'number') {
        yield;
        continue;
      }
      const { block, indexes, reached } = match;
      for (const index of indexes) {
        if (!matches(block, index)) continue;
        const event = eventAt(block, index);
        if (presenter.isErased(event)) continue;
        if (events.length === limit || characters >= maxCharacters) {
          const { sequence } = events.at(-1) as StoredEvent;
          return { events, next: sequence, through: sequence };
        }
        events.push(presenter.toStoredEvent(event));
        characters += charactersOf(event);
      }
      examined += sizeOf(block);
      if (examined >= maxExamined && (ascending ? reached < end : reached > 1)) {
        return { events, next: reached, through: reached };
      }
    }
    return { events, next: null, through: end };
  };
};
