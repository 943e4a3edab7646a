/** Finding events in their blocks, in the order in which they were kept, without reading those of others. */
import type { Connection } from './connection.ts';
import { type EventBlock, type EventFacts, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import { createBlockReader } from './event-blocks.ts';
import { createEventTail, type PostingKey } from './event-tail.ts';
import { posted } from './indexing.ts';
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

export interface Range {
  readonly after: number;
  readonly through: number;
  readonly order: 'asc' | 'desc';
}

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

/** A part of the order, and where to look in it: sequences of events, or what blocks are known by. Ascending. */
interface Span {
  readonly after: number;
  readonly through: number;
  readonly places: readonly number[];
  readonly cost: number;
}

interface Segment {
  readonly segment: number;
  readonly after: number;
  readonly through: number;
}

/** What several lists hold, ascending, each once. Each of them is ascending. */
const united = (lists: readonly (readonly number[])[]): readonly number[] =>
  lists.length === 1 ? (lists[0] as readonly number[]) : [...new Set(lists.flat())].sort((a, b) => a - b);

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
   * Block by block. Undefined where others may go first: the transaction may end there, and whatever is committed
   * meanwhile does no harm.
   */
  find(sources: readonly Source[], range: Range): Generator<Found | undefined, void>;
}

export const createEventFinder = (db: Connection): EventFinder => {
  const blocks = createBlockReader(db);
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

  const segmentSpan = (sources: readonly Source[], segment: Segment, after: number, through: number): Span => {
    const all = united(sources.map((source) => blocksOf(segment, source)));
    // The last of them begins within the range, and may end after it.
    const beyond = all.findIndex((place) => place >= through);
    const places = all.filter((place, index) => place > after && (beyond < 0 || index <= beyond));
    return { ...segment, places, cost: costOfAsking * sources.length };
  };

  return {
    *find(sources, { after, through, order }) {
      const ascending = order === 'asc';
      const isSought = createIsSought(sources);
      /** What has not been looked at yet: after < sequence <= through. */
      const rest = { after, through };
      let cost = 0;

      function* spans(): Generator<Span> {
        const indexed = tail.refresh();
        const inTail = function* () {
          if (rest.through <= indexed) return;
          const lists = sources.map((source) =>
            tail.find(source, Math.max(rest.after, source.after), Math.min(rest.through, source.through)),
          );
          const places = united(lists);
          yield { after: indexed, through: Infinity, places, cost: costOfAsking * sources.length };
        };
        if (!ascending) yield* inTail();
        for (const segment of segments[order].all(rest.after, Math.min(rest.through, indexed))) {
          yield segmentSpan(sources, segment, rest.after, rest.through);
        }
        if (ascending) yield* inTail();
      }

      const pass = (after: number, through: number) => {
        if (ascending) rest.after = Math.max(rest.after, through);
        else rest.through = Math.min(rest.through, after);
      };

      /** The block of a place, as far as it was not looked at. */
      const look = (place: number): Found | undefined => {
        const stored = blocks.containing(place);
        if (!stored) return undefined;
        const { through, block } = stored;
        const indexes: number[] = [];
        for (let index = 0; index < sizeOf(block); index += 1) {
          const event = factsAt(block, index);
          if (event.sequence > rest.after && event.sequence <= rest.through && isSought(event)) indexes.push(index);
        }
        cost += sizeOf(block);
        const first = sequenceAt(block, 0);
        pass(first - 1, through);
        if (!ascending) indexes.reverse();
        return { through, block, indexes, reached: ascending ? through : first };
      };

      /** Goes on from where it was; answers whether all has been looked at. */
      function* step(): Generator<Found, boolean> {
        /** The first sequence of the block that was looked at last. */
        let looked = Infinity;
        for (const span of spans()) {
          cost += span.cost;
          for (let nth = 0; nth < span.places.length; nth += 1) {
            const place = span.places.at(ascending ? nth : -1 - nth) as number;
            if (ascending ? place <= rest.after : place >= looked) continue;
            const found = look(place);
            if (!found) continue;
            looked = Math.min(looked, found.reached);
            if (found.indexes.length > 0) yield found;
            if (cost >= eventsPerStep) return false;
          }
          pass(span.after, span.through);
          if (cost >= eventsPerStep) return false;
        }
        return true;
      }

      while (sources.length > 0 && !(yield* step())) {
        cost = 0;
        yield undefined;
      }
    },
    forget: tail.forget,
  };
};
