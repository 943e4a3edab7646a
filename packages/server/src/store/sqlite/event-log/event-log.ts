/**
 * The log of all events, in sequence order. Other folders import only this file. `transactions/sequencer.ts` also reads
 * its tables, to check at start that the log ends at the stored position.
 *
 * - A **sequence** numbers events and statements in one order. Statements and erased events leave gaps.
 * - A **block** is a row with up to 72 events, as JSON with a column per field (event-block.ts), and a checksum
 *   (event-block-row.ts). Its key, `through`, is the sequence of the last event written to it.
 * - **Compaction** merges the small blocks of small commits into full blocks (compaction.ts). An event is written by
 *   its commit, and once, rarely twice, by compaction. An erasure rewrites its block.
 * - A **segment** is a range of about 131,072 events in compacted blocks, which are **indexed** together
 *   (segment-builder.ts).
 * - A **posting** lists the blocks of a segment with events of a user, contact, account or eventID.
 * - A **source** describes the events that a read searches for: a posting and a range of sequences.
 * - A **summary** determines which blocks of a segment a read can skip. It has the blocks' times (block-times.ts) and
 *   Bloom filters of their attributes (bloom-filter.ts), and the holders per eventID and quarter hour
 *   (visitor-list.ts).
 * - A **holder** is the user of an event; for an event without a user, the negated contact.
 * - The **tail** is the events after the last segment. Each reader indexes it in memory (event-tail.ts), so a
 *   compaction backlog costs memory. Commits are slowed down if it grows too large (`behind`).
 *
 * A commit writes only blocks; the rest follows in steps between commits. Decisions 8 and 11 explain why. An event with
 * three attributes takes about 60 bytes in its block and 7 in postings and summaries (`npm run bench -- size --quick`).
 */

import type { Connection } from '../database/connection.ts';
import type { Pending } from '../transactions/transaction.ts';
import type { Tuning } from '../tuning.ts';
import type { EventFilter } from './block-filter.ts';
import { createCompaction } from './compaction.ts';
import { type EventRow, eventAt, eventsOf } from './event-block.ts';
import { createBlockReader, createBlockWriter, type EventPlace, type StoredBlock } from './event-blocks.ts';
import { type BlockMatch, createEventFinder, type Order, type Range, type Source } from './event-finder.ts';
import { createSegmentBuilder } from './segment-builder.ts';
import { createVisitorReader, type VisitHolders } from './visitors.ts';

export {
  type EventBlock,
  type EventRow,
  eventAt,
  eventsOf,
  eventTimeAt,
  factsAt,
  hasAttribute,
  isRobot,
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
   * Yields the blocks with events of at least one source, range by range. Ranges must be sorted by `order`. The filter
   * is only used to skip blocks, so the caller must check each event against it.
   *
   * Yields a number where other work may run: the transaction may end there, and later commits do not affect the
   * result. All events up to that sequence (descending: from it on) have been found.
   */
  find(
    sources: readonly Source[],
    ranges: readonly Range[],
    order: Order,
    filter?: EventFilter,
  ): Generator<BlockMatch | number, void>;
  /** Yields the blocks with events after a sequence, in order. Throws on a damaged block. */
  blocksAfter(sequence: number): Generator<StoredBlock>;
  readonly visit: VisitHolders;
}

export interface EventLogWriter extends Pending {
  /** Adds an event to the current commit. Call it in ascending order of sequence. */
  append(event: EventRow): void;
  flush(): void;
  /** Yields the events after a sequence, in order, including the current commit's. Skips damaged blocks. */
  eventsAfter(sequence: number): Generator<EventRow>;
  /** Removes events, which must be flushed and in ascending order of sequence. */
  remove(places: readonly EventPlace[]): void;
  /** The number of events written since this log was opened, and the bytes of their text. */
  written(): number;
  writtenBytes(): number;
  /** Whether there may be events to compact or index. */
  isDue(): boolean;
  /** The backlog of unindexed events: the number of segments over the limit, or 0 within the limit. */
  behind(): number;
  /** Compacts or indexes some events. Returns whether there may be more to do. */
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
  { eventsPerBlock, eventsPerCompaction, eventsPerSegment }: Tuning = {},
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
    isDue: () => compaction.isDue() || segments.hasMoreWork(),
    behind: segments.behind,
    step() {
      // Indexes first if indexing is behind: otherwise compaction could use up every step, because each commit leaves
      // events to compact.
      if (segments.behind() > 0 && segments.step(compaction.compacted())) return true;
      return compaction.step() || segments.step(compaction.compacted());
    },
    forget() {
      for (const part of [blocks, compaction, segments]) part.forget();
    },
  };
};
