/** Finding events in their blocks, in the order in which they were kept, without reading those of others. */
import { createBlockFilter, type EventFilter } from './block-filter.ts';
import type { Connection } from './connection.ts';
import { type EventBlock, type EventFacts, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import { createBlockReader, type StoredBlock } from './event-blocks.ts';
import { createEventTail, type PostingKey } from './event-tail.ts';
import { posted } from './postings-draft.ts';
import type { Pending } from './transaction.ts';

/**
 * Events of one posting, with after < sequence <= through: a user's, a contact's, an account's, or those of a kind of an
 * account, whose `number` is the account's then.
 */
export interface Source extends PostingKey {
  /** Only those of this user that were logged with the contact; only those of the user that were logged with none. */
  readonly contactAndUser?: number;
  readonly withoutContact?: boolean;
  readonly after: number;
  readonly through: number;
}

/** A part of the order: after < sequence <= through. */
export interface Range {
  readonly after: number;
  readonly through: number;
}

export type Order = 'asc' | 'desc';

export interface Found {
  readonly through: number;
  readonly block: EventBlock;
  /** Those of the block that are sought, in order. */
  readonly indexes: readonly number[];
  /** Whatever is sought up to this sequence (or down to it, from the last) has been found. */
  readonly reached: number;
}

/** Events that are looked at between two rests. */
const eventsPerStep = 2_000;

/** What it costs to ask for a posting, in events that could be looked at meanwhile. */
const costOfAsking = 4;

/** A single block is sooner looked at than it is found out whether it is worth it. */
const fewestToFilter = 2;

/** A part of the order, and where to look in it: sequences of events, or what blocks are known by. Ascending. */
interface Span extends Range {
  readonly places: readonly number[];
}

interface Segment extends Range {
  readonly segment: number;
}

/** What several lists hold, ascending, each once. Each of them is ascending. */
const united = (lists: readonly (readonly number[])[]): readonly number[] =>
  lists.length === 1 ? (lists[0] as readonly number[]) : [...new Set(lists.flat())].sort((a, b) => a - b);

/** What both lists hold. Both are ascending. */
const shared = (some: readonly number[], others: readonly number[]): readonly number[] => {
  let at = 0;
  return some.filter((value) => {
    while ((others[at] as number) < value) at += 1;
    return others[at] === value;
  });
};

/** Of these blocks, those that may have a part in a range. */
const placesIn = ({ after, through }: Range, all: readonly number[]): readonly number[] => {
  // The last of them begins within the range, and may end after it.
  const beyond = all.findIndex((place) => place >= through);
  return all.filter((place, index) => place > after && (beyond < 0 || index <= beyond));
};

const isWithin = (source: Source, { sequence, user, contact }: EventFacts): boolean =>
  sequence > source.after &&
  sequence <= source.through &&
  (source.contactAndUser === undefined || source.contactAndUser === user) &&
  (!source.withoutContact || contact === null);

/** Whether an event is one of a source at least, however many sources there are. */
const createIsSought = (sources: readonly Source[]) => {
  const sourcesOf = { user: new Map<number, Source[]>(), contact: new Map<number, Source[]>() };
  const others: Source[] = [];
  for (const source of sources) {
    if (source.what === 'account' || source.what === 'kind') others.push(source);
    else sourcesOf[source.what].set(source.number, [...(sourcesOf[source.what].get(source.number) ?? []), source]);
  }
  const isOf = (sources: readonly Source[] | undefined, event: EventFacts) =>
    sources?.some((source) => isWithin(source, event)) ?? false;
  return (event: EventFacts): boolean =>
    isOf(event.user === null ? undefined : sourcesOf.user.get(event.user), event) ||
    isOf(event.contact === null ? undefined : sourcesOf.contact.get(event.contact), event) ||
    others.some(
      (source) =>
        source.number === event.account &&
        (source.eventID === 0 || source.eventID === event.eventID) &&
        isWithin(source, event),
    );
};

export interface EventFinder extends Pending {
  /**
   * Block by block, range by range, which come in that order. A number where others may go first: the transaction may end
   * there, and whatever is committed meanwhile does no harm. What is sought up to it (or from it on) has been found. Blocks
   * that hold nothing that passes the filter are passed over where that is known; who asks looks at each event himself.
   */
  find(
    sources: readonly Source[],
    ranges: readonly Range[],
    order: Order,
    filter?: EventFilter,
  ): Generator<Found | number, void>;
}

export const createEventFinder = (db: Connection): EventFinder => {
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
    if (filter?.attrID !== undefined && sources.every(({ what }) => what === 'account')) {
      // Whose attribute it is, the signatures tell as well; the postings would name nearly every block.
      const passed = passing();
      if (passed) return { ...segment, places: placesIn(range, passed) };
    }
    const places = placesIn(range, united(sources.map((source) => blocksOf(segment, source))));
    const passed = places.length < fewestToFilter ? undefined : passing();
    return { ...segment, places: passed ? shared(places, passed) : places };
  };

  return {
    *find(sources, ranges, order, filter) {
      const ascending = order === 'asc';
      const isSought = createIsSought(sources);
      /** Since the last rest. */
      let asked = 0;
      let looked = 0;

      function* findIn(range: Range): Generator<Found | number, void> {
        // The others have nothing in the range.
        const near = sources.filter(({ after, through }) => after < range.through && through > range.after);
        if (near.length === 0) return;
        const costOfSpan = costOfAsking * near.length;
        /** What has not been looked at yet: after < sequence <= through. */
        const rest = { ...range };

        function* spans(): Generator<Span> {
          const { indexed } = tail;
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

        /** What is sought of a block, as far as it was not looked at. */
        const look = ({ through, block }: StoredBlock): Found => {
          const indexes: number[] = [];
          for (let index = 0; index < sizeOf(block); index += 1) {
            const event = factsAt(block, index);
            if (event.sequence > rest.after && event.sequence <= rest.through && isSought(event)) indexes.push(index);
          }
          pass(sequenceAt(block, 0) - 1, through);
          if (!ascending) indexes.reverse();
          // Of what the block has beyond the range, nothing was looked at.
          const reached = ascending ? Math.min(rest.after, range.through) : Math.max(rest.through, range.after) + 1;
          return { through, block, indexes, reached };
        };

        /** Goes on from where it was; answers whether all has been looked at. */
        function* step(): Generator<Found, boolean> {
          /** Going down: places from here on have been looked at. */
          let seen = Infinity;
          for (const span of spans()) {
            asked += costOfSpan;
            for (let nth = 0; nth < span.places.length; nth += 1) {
              const place = span.places.at(ascending ? nth : -1 - nth) as number;
              if (ascending ? place <= rest.after : place >= seen) continue;
              const stored = blocks.containing(place);
              const first = stored ? sequenceAt(stored.block, 0) : Infinity;
              looked += stored ? sizeOf(stored.block) : 0;
              if (ascending ? !stored : first > place) {
                // What was there is gone, and so may be much that was next to it.
                if (ascending) break;
                const last = blocks.lastBefore(place);
                seen = last + 1;
                pass(last, place);
                continue;
              }
              const found = look(stored as StoredBlock);
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
