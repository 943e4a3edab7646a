/**
 * The log of all events, in the order in which they were stored: commits append to it, reads find in it. This file is all that the
 * rest of the driver knows of it.
 *
 * - A **sequence** numbers the events of the database. It only grows; an erased event leaves a gap.
 * - A **block** is a row of some 72 consecutive events, as JSON with a column for each field (event-block.ts), and a checksum
 *   (event-block-row.ts). Its key, `through`, is the sequence of the last event that was written into it.
 * - **Compaction** joins the small blocks of small commits into full ones (compaction.ts). An event is written at most twice.
 * - A **segment** is a stretch of 131,072 events whose index is written once, sorted (segment-builder.ts).
 * - A **posting** lists the blocks of a segment with events of one user, contact, account or kind.
 * - A **summary** tells which blocks of a segment can be skipped: their times (block-times.ts) and Bloom filters of their attributes
 *   (bloom-filter.ts). It also counts the **visitors** of each kind and quarter of an hour (visitor-list.ts).
 * - The **tail** are the events after the last segment. Each reader indexes them in memory (event-tail.ts).
 *
 * An event with three attributes takes about 60 bytes in its block, and 7 in postings and summaries (`npm run bench -- size --quick`).
 * A commit writes its blocks only; all else follows in steps between commits. Decisions 8 and 11 say why.
 */
import { quarterMilliseconds } from '../../rules/quarter.ts';
import type { Arrangement } from '../arrangement.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import type { Pending } from '../transactions/transaction.ts';
import type { EventFilter } from './block-filter.ts';
import { createCompaction } from './compaction.ts';
import { eventAt, eventsOf, eventTimeAt, factsAt, type KeptEvent } from './event-block.ts';
import { type BlockRow, isWhole } from './event-block-row.ts';
import { createBlockReader, createBlockWriter, type StoredBlock } from './event-blocks.ts';
import { createEventFinder, type Found, type Order, type Range, type Source } from './event-finder.ts';
import { createSegmentBuilder } from './segment-builder.ts';
import type { Holder } from './visitor-list.ts';
import { createVisitorReader, holderOf, type KindOfEvent } from './visitors.ts';

export {
  type EventBlock,
  eventAt,
  eventsOf,
  eventTimeAt,
  factsAt,
  hasAttribute,
  isRobot,
  type KeptEvent,
  receivedTimeAt,
  sequenceAt,
  sizeOf,
} from './event-block.ts';
export type { StoredBlock } from './event-blocks.ts';
export type { Order, Range, Source } from './event-finder.ts';
export { eventsPerSegment } from './segment-builder.ts';
export type { Holder } from './visitor-list.ts';
export { holderOf } from './visitors.ts';

/** An event in its block: the functions `…At` read it. */
export interface PlacedEvent {
  readonly stored: StoredBlock;
  readonly index: number;
}

export interface EventLogReader extends Pending {
  /**
   * Yields the blocks with events of at least one source, range by range; the ranges must be in the given order. Yields a number
   * where other work may go first: the transaction may end there, and later commits do no harm. All events up to that sequence
   * (descending: from it on) have been found. The caller must still check each event against the filter, which only skips blocks.
   */
  find(
    sources: readonly Source[],
    ranges: readonly Range[],
    order: Order,
    filter?: EventFilter,
  ): Generator<Found | number, void>;
  /** Yields the blocks with events after a sequence, in order. Throws at a damaged one, unless these are to be left out. */
  blocksAfter(sequence: number, leaveOutDamaged?: boolean): Generator<StoredBlock>;
  /**
   * Tells who had events of a kind in these ranges, at least once for each of them: calls `seeAt` with a time in the same quarter of an
   * hour, and what it returns with each visitor. Times with from <= time < to are told, perhaps others too.
   */
  visit(
    kind: KindOfEvent & { readonly from: number; readonly to: number },
    ranges: readonly Range[],
    seeAt: (time: number) => ((visitor: Holder) => void) | undefined,
  ): ChunkedRead<void>;
}

export interface EventLogWriter extends Pending {
  /** Adds an event to the current commit. Sequences must ascend. */
  append(event: KeptEvent): void;
  flush(): void;
  /** The events after a sequence, in order, those of the current commit too. Those of damaged blocks are left out. */
  eventsAfter(sequence: number): Generator<KeptEvent>;
  /** Removes events, in the order of their sequences. */
  remove(places: readonly PlacedEvent[]): void;
  /** The number of events written since this log was opened, and the bytes of their text. */
  readonly written: number;
  readonly writtenBytes: number;
  /** Whether there may be something to arrange: blocks to join, or events to index. */
  isDue(): boolean;
  /** By how many segments the events that wait to be indexed exceed the permitted number; 0 while they don't. */
  behind(): number;
  /** Arranges some events. Returns whether there may be more to do. */
  step(): boolean;
}

/** The parts of the ranges that the others don't cover. Both ascend. */
const without = (ranges: readonly Range[], others: readonly Range[]): Range[] =>
  ranges.flatMap((range) => {
    const rest: Range[] = [];
    let { after } = range;
    for (const other of others) {
      if (other.through <= after || other.after >= range.through) continue;
      if (other.after > after) rest.push({ after, through: other.after });
      after = other.through;
    }
    if (after < range.through) rest.push({ after, through: range.through });
    return rest;
  });

export const createEventLogReader = (db: Connection): EventLogReader => {
  const { find, forget } = createEventFinder(db);
  const blocks = createBlockReader(db);
  const visitors = createVisitorReader(db);
  return {
    find,
    forget,
    blocksAfter: blocks.after,
    *visit({ account, eventID, from, to }, ranges, seeAt) {
      // A segment that is written meanwhile is not among these: its events are read. A segment that is deleted meanwhile has no
      // events left.
      const segments = visitors.segmentsIn(ranges);
      for (const { segment } of segments) {
        visitors.visit(segment, { account, eventID }, (quarter) => seeAt(quarter * quarterMilliseconds));
        yield;
      }
      const what = eventID === undefined ? 'account' : 'kind';
      const source = { what, number: account, eventID: eventID ?? 0, after: 0, through: Infinity } as const;
      for (const found of find([source], without(ranges, segments), 'asc', { account, from, to })) {
        if (typeof found === 'number') yield;
        else {
          for (const index of found.indexes) {
            seeAt(eventTimeAt(found.block, index))?.(holderOf(factsAt(found.block, index)));
          }
        }
      }
    },
  };
};

export const createEventLogWriter = (
  db: Connection,
  { eventsPerBlock, eventsPerCompaction, eventsPerSegment }: Arrangement = {},
): EventLogWriter => {
  const blocks = createBlockWriter(db, eventsPerBlock);
  const reader = createBlockReader(db);
  const compaction = createCompaction(db, blocks, eventsPerCompaction);
  const segments = createSegmentBuilder(db, () => blocks.written, eventsPerSegment);
  return {
    append: blocks.add,
    flush: blocks.flush,
    *eventsAfter(sequence) {
      for (const { block } of reader.after(sequence, true)) {
        for (const event of eventsOf(block)) if (event.sequence > sequence) yield event;
      }
      yield* blocks.unwritten;
    },
    remove(places) {
      const byBlock = new Map<StoredBlock, Set<number>>();
      for (const { stored, index } of places) byBlock.set(stored, (byBlock.get(stored) ?? new Set()).add(index));
      for (const [stored, indexes] of byBlock) blocks.remove(stored, indexes);
      segments.remove(places.map(({ stored, index }) => eventAt(stored.block, index)));
    },
    get written() {
      return blocks.written;
    },
    get writtenBytes() {
      return blocks.writtenBytes;
    },
    isDue: () => compaction.isDue() || segments.isUnderWay(),
    behind: segments.behind,
    step() {
      // Indexing goes first when it is behind: each commit leaves something to join, so compaction alone could use every step.
      if (segments.behind() > 0 && segments.step(compaction.compacted)) return true;
      return compaction.step() || segments.step(compaction.compacted);
    },
    forget() {
      for (const part of [blocks, compaction, segments]) part.forget();
    },
  };
};

/** The number of blocks that are not as they were written. */
export const countDamagedBlocks = (db: Connection): number => {
  let damaged = 0;
  const rows = db.prepare<[], BlockRow>('SELECT through, events, checksum FROM event_block');
  for (const row of rows.iterate()) if (!isWhole(row)) damaged += 1;
  return damaged;
};
