/**
 * Finds the events of users, contacts, accounts and eventIDs, in sequence order. Skips most blocks that contain none of
 * them.
 */

import type { Connection } from '../database/connection.ts';
import { createBlockFilter, type EventFilter } from './block-filter.ts';
import { type EventBlock, type EventFacts, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import { createBlockReader, type StoredBlock } from './event-blocks.ts';
import { createEventTail } from './event-tail.ts';
import { type PostingKey, postingKinds } from './posting-lists.ts';

/** The events in one posting list with after < sequence ≤ through. */
export interface Source extends PostingKey, Range {
  /**
   * `contactAndUser` selects only events of this user that were logged with the contact, and `withoutContact` only
   * events of the user that were logged without a contact.
   */
  readonly contactAndUser?: number;
  readonly withoutContact?: boolean;
}

/** Returns the sources for all of an account's events, or for some eventIDs. */
export const sourcesOfKinds = (account: number, eventIDs: readonly number[] | undefined): Source[] => {
  const always = { number: account, after: 0, through: Infinity };
  if (eventIDs === undefined) return [{ ...always, what: 'account', eventID: 0 }];
  return eventIDs.map((eventID) => ({ ...always, what: 'eventID', eventID }));
};

/** A range of sequences: after < sequence ≤ through. */
export interface Range {
  readonly after: number;
  readonly through: number;
}

export type Order = 'asc' | 'desc';

export interface BlockMatch {
  readonly through: number;
  readonly block: EventBlock;
  /** The indexes of the matching events in the block, in the requested order. */
  readonly indexes: readonly number[];
  /**
   * All matching events up to this sequence have been found. In descending order: all matching events at or after it.
   */
  readonly reached: number;
}

/** The number of events examined between two pauses. */
const eventsPerStep = 2_000;

/** The cost of looking up a posting: the number of events that could be examined in the same time. */
const costOfLookup = 4;

/** The minimum number of blocks for which filtering costs less than examining all of them. */
const minBlocksToFilter = 2;

/** A range and the places to examine in it, ascending: sequences of events, or keys of blocks. */
interface Span extends Range {
  readonly places: readonly number[];
}

/** The events with after < sequence ≤ through. */
export interface Segment extends Range {
  readonly segment: number;
}

/** Returns the union of ascending lists, ascending and without duplicates. */
const union = (lists: readonly (readonly number[])[]): readonly number[] =>
  lists.length === 1 ? (lists[0] as readonly number[]) : [...new Set(lists.flat())].sort((a, b) => a - b);

/** Returns the intersection of two ascending lists. */
const intersect = (some: readonly number[], others: readonly number[]): readonly number[] => {
  let at = 0;
  return some.filter((value) => {
    while ((others[at] as number) < value) at += 1;
    return others[at] === value;
  });
};

/** Returns the blocks that may have events in a range. */
const placesIn = ({ after, through }: Range, all: readonly number[]): readonly number[] => {
  // Includes the last block, which starts within the range and may end after it.
  const beyond = all.findIndex((place) => place >= through);
  return all.filter((place, index) => place > after && (beyond < 0 || index <= beyond));
};

const isWithin = (source: Source, { sequence, user, contact }: EventFacts): boolean =>
  sequence > source.after &&
  sequence <= source.through &&
  (source.contactAndUser === undefined || source.contactAndUser === user) &&
  (!source.withoutContact || contact === null);

/**
 * Returns a function that checks whether an event belongs to a source. The cost of a check hardly grows with the number
 * of users and contacts among the sources.
 */
const createSourceMatcher = (sources: readonly Source[]) => {
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
    const list = posting.get(segment, postingKinds[source.what], source.number, source.eventID);
    return list === undefined ? [] : (JSON.parse(list) as number[]).map((distance) => after + distance);
  };

  const segmentSpan = (
    sources: readonly Source[],
    segment: Segment,
    range: Range,
    filter: EventFilter | undefined,
  ): Span => {
    const findPassing = () =>
      filter && filterBlocks(segment.segment, filter)?.map((distance) => segment.after + distance);
    if (filter?.attrIDs !== undefined && sources.every(({ what }) => what === 'account')) {
      // Does not read the account's postings, which would list nearly every block: the Bloom filters include the
      // account.
      const passing = findPassing();
      if (passing) return { ...segment, places: placesIn(range, passing) };
    }
    const places = placesIn(range, union(sources.map((source) => blocksOf(segment, source))));
    const passing = places.length < minBlocksToFilter ? undefined : findPassing();
    return { ...segment, places: passing ? intersect(places, passing) : places };
  };

  return {
    /** Documented in `EventLogReader` (event-log.ts). */
    *find(
      sources: readonly Source[],
      ranges: readonly Range[],
      order: Order,
      filter?: EventFilter,
    ): Generator<BlockMatch | number, void> {
      const ascending = order === 'asc';
      const matchesSource = createSourceMatcher(sources);
      /** The cost of lookups, and the number of examined events, since the last pause. */
      let lookupCost = 0;
      let examined = 0;

      function* findIn(range: Range): Generator<BlockMatch | number, void> {
        // Skips sources that have no events in the range.
        const relevant = sources.filter(({ after, through }) => after < range.through && through > range.after);
        if (relevant.length === 0) return;
        const costOfSpan = costOfLookup * relevant.length;
        /** The unexamined part: after < sequence ≤ through. */
        const rest = { ...range };

        function* spans(): Generator<Span> {
          const indexed = tail.indexed();
          const inTail = function* () {
            if (rest.through <= indexed) return;
            const lists = relevant.map((source) =>
              tail.find(source, Math.max(rest.after, source.after), Math.min(rest.through, source.through)),
            );
            yield { after: indexed, through: Infinity, places: union(lists) };
          };
          if (!ascending) yield* inTail();
          for (const segment of segments[order].all(rest.after, Math.min(rest.through, indexed))) {
            yield segmentSpan(relevant, segment, rest, filter);
          }
          if (ascending) yield* inTail();
        }

        const pass = (after: number, through: number) => {
          if (ascending) rest.after = Math.max(rest.after, through);
          else rest.through = Math.min(rest.through, after);
        };

        /** Returns the matching events in a block's unexamined part. */
        const examine = ({ through, block }: StoredBlock): BlockMatch => {
          const indexes: number[] = [];
          for (let index = 0; index < sizeOf(block); index += 1) {
            const event = factsAt(block, index);
            if (event.sequence > rest.after && event.sequence <= rest.through && matchesSource(event))
              indexes.push(index);
          }
          pass(sequenceAt(block, 0) - 1, through);
          if (!ascending) indexes.reverse();
          // Does not go beyond the range, because events outside it were not examined.
          const reached = ascending ? Math.min(rest.after, range.through) : Math.max(rest.through, range.after) + 1;
          return { through, block, indexes, reached };
        };

        /** Runs a step. Returns whether the whole range has been examined. */
        function* step(): Generator<BlockMatch, boolean> {
          /** In descending order only: every place from this one up has been examined. */
          let examinedFrom = Infinity;
          for (const span of spans()) {
            lookupCost += costOfSpan;
            // Iterates by index, because most of a span's tens of thousands of places are never visited.
            for (let nth = 0; nth < span.places.length; nth += 1) {
              const place = span.places.at(ascending ? nth : -1 - nth) as number;
              if (ascending ? place <= rest.after : place >= examinedFrom) continue;
              const stored = blocks.containing(place);
              const first = stored ? sequenceAt(stored.block, 0) : Infinity;
              if (stored) examined += sizeOf(stored.block);
              if (!ascending && first > place) {
                // The block was deleted, perhaps with its neighbors: continues with the last block before it.
                examinedFrom = blocks.lastBefore(place) + 1;
                pass(examinedFrom - 1, place);
                continue;
              }
              // In ascending order, a missing block means that no block is left.
              if (!stored) break;
              const match = examine(stored);
              examinedFrom = first;
              if (match.indexes.length > 0) yield match;
              if (examined >= eventsPerStep) return false;
            }
            pass(span.after, span.through);
            if (lookupCost + examined >= eventsPerStep) return false;
          }
          return true;
        }

        const reached = () => (ascending ? rest.after : rest.through + 1);
        lookupCost += costOfLookup;
        while (rest.after < rest.through) {
          while (!tail.refresh()) yield reached();
          if (yield* step()) return;
          lookupCost = 0;
          examined = 0;
          yield reached();
        }
      }

      for (const range of ranges) yield* findIn(range);
    },
    forget: tail.forget,
  };
};
export type EventFinder = ReturnType<typeof createEventFinder>;
