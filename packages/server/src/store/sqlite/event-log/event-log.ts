/**
 * The log of all events, in the order in which they were stored: commits append to it, reads find in it. No other
 * room imports another file of it. `transactions/sequencer.ts` reads its tables too, to check at the start
 * that the log ends at the stored position.
 *
 * - A **sequence** numbers events and statements, in one order. Its gaps are statements and erased events.
 * - A **block** is a row of up to 72 events, as JSON with a column for each field (event-block.ts), and a checksum
 *   (event-block-row.ts). Its key, `through`, is the sequence of the last event that was written into it.
 * - **Compaction** joins the small blocks of small commits into full ones (compaction.ts). An event is written by its commit, and by
 *   compaction once, rarely twice; an erasure writes its block again without it.
 * - A **segment** is a stretch of some 131,072 events in compacted blocks, which are **indexed** together (segment-builder.ts).
 * - A **posting** lists the blocks of a segment with events of one user, of one account, of one eventID of an account, or
 *   logged with one contact. A **source** names the events that a read looks for: a posting, and a range of sequences.
 * - A **summary** tells which blocks of a segment can be skipped: their times (block-times.ts) and Bloom filters of their attributes
 *   (bloom-filter.ts). It also lists the holders of the events of each eventID for each quarter of an hour (visitor-list.ts).
 * - A **holder** is the user of an event, or minus the contact of one without a user.
 * - The **tail** holds the events after the last segment. Each reader indexes it in memory (event-tail.ts), so the less is compacted,
 *   the more memory readers take; commits are slowed down when it is too much (`behind`).
 *
 * An event with three attributes takes about 60 bytes in its block, and 7 in postings and summaries (the tables `event_block`,
 * `event_posting` and `segment_…` of `npm run bench -- size --quick`). Of new events a commit writes the blocks only; all else
 * follows in steps between commits. Decisions 8 and 11 say why.
 */
import type { Arrangement } from '../arrangement.ts';
import type { Connection } from '../database/connection.ts';
import type { Pending } from '../transactions/transaction.ts';
import type { EventFilter } from './block-filter.ts';
import { createCompaction } from './compaction.ts';
import { eventAt, eventsOf, type KeptEvent } from './event-block.ts';
import { createBlockReader, createBlockWriter, type EventPlace, type StoredBlock } from './event-blocks.ts';
import { createEventFinder, type Found, type Order, type Range, type Source } from './event-finder.ts';
import { createSegmentBuilder } from './segment-builder.ts';
import { createVisitorReader, type VisitHolders } from './visitors.ts';

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
export { countDamagedBlocks, type EventPlace } from './event-blocks.ts';
export { type Order, type Range, type Source, sourcesOfKinds } from './event-finder.ts';
export { eventsPerSegment } from './segment-builder.ts';
export type { Holder } from './visitor-list.ts';
export { holderOf } from './visitors.ts';

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
  /** Yields the blocks with events after a sequence, in order. Throws at a damaged one. */
  blocksAfter(sequence: number): Generator<StoredBlock>;
  readonly visit: VisitHolders;
}

export interface EventLogWriter extends Pending {
  /** Adds an event to the current commit. Sequences must ascend. */
  append(event: KeptEvent): void;
  flush(): void;
  /** The events after a sequence, in order, those of the current commit too. Those of damaged blocks are left out. */
  eventsAfter(sequence: number): Generator<KeptEvent>;
  /** Removes events, which must ascend by sequence and be flushed. */
  remove(places: readonly EventPlace[]): void;
  /** The number of events written since this log was opened, and the bytes of their text. */
  written(): number;
  writtenBytes(): number;
  /** Whether there may be something to arrange, which is to compact or to index. */
  isDue(): boolean;
  /** By how many segments the events that wait to be indexed exceed the permitted number; 0 while they don't. */
  behind(): number;
  /** Arranges some events. Returns whether there may be more to do. */
  step(): boolean;
}

export const createEventLogReader = (db: Connection): EventLogReader => {
  const finder = createEventFinder(db);
  const blocks = createBlockReader(db);
  return {
    ...finder,
    blocksAfter: (sequence) => blocks.after(sequence),
    visit: createVisitorReader(db, finder.find),
  };
};

export const createEventLogWriter = (
  db: Connection,
  { eventsPerBlock, eventsPerCompaction, eventsPerSegment }: Arrangement = {},
): EventLogWriter => {
  const blocks = createBlockWriter(db, eventsPerBlock);
  const reader = createBlockReader(db);
  const compaction = createCompaction(db, blocks, eventsPerCompaction);
  const segments = createSegmentBuilder(db, blocks.written, eventsPerSegment);
  return {
    append: blocks.add,
    flush: blocks.flush,
    *eventsAfter(sequence) {
      for (const { block } of reader.after(sequence, true)) {
        for (const event of eventsOf(block)) if (event.sequence > sequence) yield event;
      }
      for (const event of blocks.unwritten()) if (event.sequence > sequence) yield event;
    },
    remove(places) {
      blocks.remove(places);
      segments.remove(places.map(({ stored, index }) => eventAt(stored.block, index)));
    },
    written: blocks.written,
    writtenBytes: blocks.writtenBytes,
    isDue: () => compaction.isDue() || segments.isUnderWay(),
    behind: segments.behind,
    step() {
      // Indexing goes first when it is behind: each commit leaves something to join, so compaction alone could use every step.
      if (segments.behind() > 0 && segments.step(compaction.compacted())) return true;
      return compaction.step() || segments.step(compaction.compacted());
    },
    forget() {
      for (const part of [blocks, compaction, segments]) part.forget();
    },
  };
};
