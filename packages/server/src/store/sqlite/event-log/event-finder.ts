/**
 * Finds the events of users, contacts, accounts and eventIDs, in the order of their sequences, and skips most blocks that have none.
 */

import type { Connection } from '../database/connection.ts';
import { createBlockFilter, type EventFilter } from './block-filter.ts';
import { type EventBlock, type EventFacts, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import { createBlockReader, type StoredBlock } from './event-blocks.ts';
import { createEventTail } from './event-tail.ts';
import { type PostingKey, posted } from './posting-lists.ts';

/** The events of one posting with after < sequence <= through. */
export interface Source extends PostingKey, Range {
  /**
   * `contactAndUser` selects only the events of this user that were logged with the contact; `withoutContact` only the events of
   * the user that were logged without a contact.
   */
  readonly contactAndUser?: number;
  readonly withoutContact?: boolean;
}

/** The sources of the events of an account: of all, or of some eventIDs. */
export const sourcesOfKinds = (account: number, eventIDs: readonly number[] | undefined): Source[] => {
  const always = { number: account, after: 0, through: Infinity };
  if (eventIDs === undefined) return [{ ...always, what: 'account', eventID: 0 }];
  return eventIDs.map((eventID) => ({ ...always, what: 'eventID', eventID }));
};

/** A range of sequences: after < sequence <= through. */
export interface Range {
  readonly after: number;
  readonly through: number;
}

export type Order = 'asc' | 'desc';

export interface Found {
  readonly through: number;
  readonly block: EventBlock;
  /** The indexes of the matching events in the block, in the requested order. */
  readonly indexes: readonly number[];
  /** All matching events up to this sequence have been found; in descending order, all from this sequence on. */
  readonly reached: number;
}

/** Events examined between two pauses. */
const eventsPerStep = 2_000;

/** The cost of looking up one posting, as a number of events that could be examined in that time. */
const costOfAsking = 4;

/** With fewer blocks the filter is skipped: examining one block costs less than filtering it. */
const fewestToFilter = 2;

/** A range and the places to look at in it: sequences of events, or keys of blocks. Ascending. */
interface Span extends Range {
  readonly places: readonly number[];
}

/** The events with after < sequence <= through. */
export interface Segment extends Range {
  readonly segment: number;
}

/** The union of ascending lists, ascending and without duplicates. */
const united = (lists: readonly (readonly number[])[]): readonly number[] =>
  lists.length === 1 ? (lists[0] as readonly number[]) : [...new Set(lists.flat())].sort((a, b) => a - b);

/** The intersection of two ascending lists. */
const shared = (some: readonly number[], others: readonly number[]): readonly number[] => {
  let at = 0;
  return some.filter((value) => {
    while ((others[at] as number) < value) at += 1;
    return others[at] === value;
  });
};

/** The blocks that may hold events of a range. */
const placesIn = ({ after, through }: Range, all: readonly number[]): readonly number[] => {
  // The last of them begins within the range and may end after it.
  const beyond = all.findIndex((place) => place >= through);
  return all.filter((place, index) => place > after && (beyond < 0 || index <= beyond));
};

const isWithin = (source: Source, { sequence, user, contact }: EventFacts): boolean =>
  sequence > source.after &&
  sequence <= source.through &&
  (source.contactAndUser === undefined || source.contactAndUser === user) &&
  (!source.withoutContact || contact === null);

/**
 * Returns a function that says whether an event belongs to at least one source. Its cost hardly grows with the number of sources of
 * users and contacts.
 */
const createIsSought = (sources: readonly Source[]) => {
  const sourcesOf = { user: new Map<number | null, Source[]>(), contact: new Map<number | null, Source[]>() };
  const others: Source[] = [];
  for (const source of sources) {
    if (source.what === 'account' || source.what === 'eventID') others.push(source);
    else sourcesOf[source.what].set(source.number, [...(sourcesOf[source.what].get(source.number) ?? []), source]);
  }
  const isOf = (sources: readonly Source[] | undefined, event: EventFacts) =>
    sources?.some((source) => isWithin(source, event)) ?? false;
  return (event: EventFacts): boolean =>
    isOf(sourcesOf.user.get(event.user), event) ||
    isOf(sourcesOf.contact.get(event.contact), event) ||
    others.some(
      (source) =>
        source.number === event.account &&
        (source.eventID === 0 || source.eventID === event.eventID) &&
        isWithin(source, event),
    );
};

export const createEventFinder = (db: Connection) => {
  const blocks = createBlockReader(db);
  const filterBlocks = createBlockFilter(db);
  const tail = createEventTail(db);
  const selectSegments = (order: string) =>
    db.prepare<[number, number], Segment>(
      `SELECT segment, after, through FROM event_segment WHERE through > ? AND after < ? ORDER BY segment ${order}`,
    );
  const segments = { asc: selectSegments('ASC'), desc: selectSegments('DESC') };
  const posting = db
    .prepare<[number, number, number, number], string>(
      'SELECT blocks FROM event_posting WHERE segment = ? AND what = ? AND number = ? AND eventID = ?',
    )
    .pluck();

  const blocksOf = ({ segment, after, through }: Segment, source: Source): number[] => {
    if (source.after >= through || source.through <= after) return [];
    const found = posting.get(segment, posted[source.what], source.number, source.eventID);
    return found === undefined ? [] : (JSON.parse(found) as number[]).map((distance) => after + distance);
  };

  const segmentSpan = (
    sources: readonly Source[],
    segment: Segment,
    range: Range,
    filter: EventFilter | undefined,
  ): Span => {
    const passing = () => filter && filterBlocks(segment.segment, filter)?.map((distance) => segment.after + distance);
    if (filter?.attrIDs !== undefined && sources.every(({ what }) => what === 'account')) {
      // The Bloom filters cover the account too; its postings would name nearly every block.
      const passed = passing();
      if (passed) return { ...segment, places: placesIn(range, passed) };
    }
    const places = placesIn(range, united(sources.map((source) => blocksOf(segment, source))));
    const passed = places.length < fewestToFilter ? undefined : passing();
    return { ...segment, places: passed ? shared(places, passed) : places };
  };

  return {
    /** See event-log.ts. */
    *find(
      sources: readonly Source[],
      ranges: readonly Range[],
      order: Order,
      filter?: EventFilter,
    ): Generator<Found | number, void> {
      const ascending = order === 'asc';
      const isSought = createIsSought(sources);
      /** Cost of the lookups and number of the events examined since the last pause. */
      let asked = 0;
      let looked = 0;

      function* findIn(range: Range): Generator<Found | number, void> {
        // The other sources have nothing in the range.
        const near = sources.filter(({ after, through }) => after < range.through && through > range.after);
        if (near.length === 0) return;
        const costOfSpan = costOfAsking * near.length;
        /** The part that has not been examined yet: after < sequence <= through. */
        const rest = { ...range };

        function* spans(): Generator<Span> {
          const indexed = tail.indexed();
          const inTail = function* () {
            if (rest.through <= indexed) return;
            const lists = near.map((source) =>
              tail.find(source, Math.max(rest.after, source.after), Math.min(rest.through, source.through)),
            );
            yield { after: indexed, through: Infinity, places: united(lists) };
          };
          if (!ascending) yield* inTail();
          for (const segment of segments[order].all(rest.after, Math.min(rest.through, indexed))) {
            yield segmentSpan(near, segment, rest, filter);
          }
          if (ascending) yield* inTail();
        }

        const pass = (after: number, through: number) => {
          if (ascending) rest.after = Math.max(rest.after, through);
          else rest.through = Math.min(rest.through, after);
        };

        /** Returns the matching events of the part of a block that has not been examined yet. */
        const look = ({ through, block }: StoredBlock): Found => {
          const indexes: number[] = [];
          for (let index = 0; index < sizeOf(block); index += 1) {
            const event = factsAt(block, index);
            if (event.sequence > rest.after && event.sequence <= rest.through && isSought(event)) indexes.push(index);
          }
          pass(sequenceAt(block, 0) - 1, through);
          if (!ascending) indexes.reverse();
          // Events of the block outside the range were not examined.
          const reached = ascending ? Math.min(rest.after, range.through) : Math.max(rest.through, range.after) + 1;
          return { through, block, indexes, reached };
        };

        /** Continues; returns whether the whole range has been examined. */
        function* step(): Generator<Found, boolean> {
          /** Descending only: places from this one on have been examined. */
          let seen = Infinity;
          for (const span of spans()) {
            asked += costOfSpan;
            // By index, because most of a span of tens of thousands is never visited.
            for (let nth = 0; nth < span.places.length; nth += 1) {
              const place = span.places.at(ascending ? nth : -1 - nth) as number;
              if (ascending ? place <= rest.after : place >= seen) continue;
              const stored = blocks.containing(place);
              const first = stored ? sequenceAt(stored.block, 0) : Infinity;
              if (stored) looked += sizeOf(stored.block);
              if (!ascending && first > place) {
                // The block was deleted, perhaps with many beside it: go on with the last block before it.
                seen = blocks.lastBefore(place) + 1;
                pass(seen - 1, place);
                continue;
              }
              // Ascending, no block is left.
              if (!stored) break;
              const found = look(stored);
              seen = first;
              if (found.indexes.length > 0) yield found;
              if (looked >= eventsPerStep) return false;
            }
            pass(span.after, span.through);
            if (asked + looked >= eventsPerStep) return false;
          }
          return true;
        }

        const reached = () => (ascending ? rest.after : rest.through + 1);
        asked += costOfAsking;
        while (rest.after < rest.through) {
          while (!tail.refresh()) yield reached();
          if (yield* step()) return;
          asked = 0;
          looked = 0;
          yield reached();
        }
      }

      for (const range of ranges) yield* findIn(range);
    },
    forget: tail.forget,
  };
};
export type EventFinder = ReturnType<typeof createEventFinder>;
