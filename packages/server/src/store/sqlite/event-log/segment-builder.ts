/**
 * Writes the postings and the summary of a segment (terms: event-log.ts). Postings are written together, sorted, so
 * that they are appended in one place; writing entries one by one would change a page for each entry. Until they are
 * written, event-tail.ts indexes the events in memory.
 */

import type { Connection } from '../database/connection.ts';
import { attributeHashOf } from './block-filter.ts';
import { type EventRow, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import { type BlockRow, readBlock } from './event-block-row.ts';
import type { Segment } from './event-finder.ts';
import { createPostingLists, type PostingLists, postingKinds } from './posting-lists.ts';
import { createSummaryDraft, type SummaryDraft } from './summary-draft.ts';
import { createVisitorRemoval } from './visitors.ts';

/**
 * The number of events in a segment. Larger segments make lookups faster, but each reader must index that many events
 * in memory.
 */
export const eventsPerSegment = 131_072;

/** The maximum number of unindexed events, in segments. Each reader indexes unindexed events in memory. */
const maxWaitingSegments = 3;

/** The limits on a read step. */
const blocksPerStep = 64;
const charactersPerStep = 128 * 1024;
/** The maximum cost of a write step: the cost of each row, plus 1 per block, event or attribute in it. */
const costPerStep = 10_000;
const costOfRow = 20;
/** The number of rows that a step deletes from a table. */
const rowsPerStep = 1_000;

/** The maximum number of attributes in a summary. A segment that would have more ends early. */
const attributesPerSegment = 2 ** 21;

/**
 * The maximum offset of a block, which is stored in 32 bits (block-times.ts). A larger gap between sequences, which a
 * copied log may have, begins a new segment.
 */
const maxOffset = 2 ** 32 - 1;

/** A segment that is being written. */
interface Draft {
  readonly segment: number;
  /** The sequence before the first event. */
  readonly after: number;
  through: number;
  count: number;
  /** Undefined if only the summary is missing, because the postings are already stored. */
  readonly postings: PostingLists | undefined;
  readonly summary: SummaryDraft;
  /** The segment's last sequence; Infinity while unknown. */
  readonly end: number;
  /** Set once all blocks have been read: writes rows and yields the cost of each. */
  writing: Generator<number, void> | undefined;
}

/** The rows of segments, with their postings and summaries. */
const createSegmentRows = (db: Connection) => {
  const lastSegment = db.prepare<[], number>('SELECT coalesce(max(segment), 0) FROM event_segment').pluck();
  const insertPosting = db.prepare('INSERT INTO event_posting VALUES (?, ?, ?, ?, ?)');
  const insertSegment = db.prepare('INSERT INTO event_segment VALUES (?, ?, ?)');
  /** Selects the oldest segment if none of its events are left. */
  const emptySegment = db
    .prepare<[], number>(`
      SELECT segment FROM event_segment WHERE through < coalesce((SELECT min(through) FROM event_block), 9e15)
      ORDER BY segment LIMIT 1`)
    .pluck();
  /**
   * Selects the oldest segment that has events but no summary, because it was written before summaries were introduced.
   */
  const segmentWithoutSummary = db.prepare<[], Segment>(`
    SELECT segment, after, through FROM event_segment
    WHERE segment NOT IN (SELECT segment FROM segment_summary)
      AND through >= (SELECT min(through) FROM event_block)
    ORDER BY segment LIMIT 1`);
  const insertVisitors = db.prepare('INSERT INTO segment_visitors VALUES (?, ?, ?, ?)');
  const insertSlice = db.prepare('INSERT INTO segment_slice VALUES (?, ?, ?)');
  const insertSummary = db.prepare('INSERT INTO segment_summary VALUES (?, ?, ?)');
  const createDrop = (table: string, key: string) =>
    db.prepare(
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE segment = ? LIMIT ${rowsPerStep})`,
    );
  const dropSummary = [
    createDrop('segment_summary', 'segment'),
    createDrop('segment_slice', 'segment, slice'),
    createDrop('segment_visitors', 'segment, account, eventID'),
  ];
  const dropAll = [createDrop('event_posting', 'segment, what, number, eventID'), ...dropSummary];
  const dropSegment = db.prepare('DELETE FROM event_segment WHERE segment = ?');
  const writeIndexed = db.prepare('UPDATE position SET indexed = ?');

  /** Deletes some rows of a segment. Returns whether there were any. */
  const dropSome = (statements: typeof dropAll, segment: number): boolean =>
    statements.some((statement) => statement.run(segment).changes > 0);

  return {
    last: (): number => lastSegment.get() as number,
    withoutSummary: (): Segment | undefined => segmentWithoutSummary.get(),
    /** Deletes some rows of a segment's summary. Returns whether there were any. */
    dropSummaryOf: (segment: number): boolean => dropSome(dropSummary, segment),
    /** Deletes some rows about a segment. Returns whether there were any. */
    dropRowsOf: (segment: number): boolean => dropSome(dropAll, segment),

    /** Deletes rows of the oldest segment if all its events are deleted. */
    dropOldest(): boolean {
      const segment = emptySegment.get();
      if (segment === undefined) return false;
      if (!dropSome(dropAll, segment)) dropSegment.run(segment);
      return true;
    },

    /** Writes a segment's rows, and yields the cost of each. */
    *write({ segment, after, through, postings, summary }: Draft): Generator<number, void> {
      for (const { what, number, eventID, list } of postings?.inOrder() ?? []) {
        insertPosting.run(segment, postingKinds[what], number, eventID, JSON.stringify(list));
        yield list.length;
      }
      for (const { account, eventID, events, list } of summary.visitors()) {
        insertVisitors.run(segment, account, eventID, list());
        yield events;
      }
      const slices = yield* summary.slices();
      for (let nth = 0; nth < slices.count; nth += 1) {
        const bits = slices.slice(nth);
        if (bits.some((byte) => byte !== 0)) insertSlice.run(segment, nth, bits);
        // Yields a small cost, because copying bytes costs next to nothing.
        yield bits.length / 16;
      }
      insertSummary.run(segment, slices.count, summary.blocks());
      if (postings) {
        insertSegment.run(segment, after, through);
        writeIndexed.run(through);
      }
    },
  };
};

export const createSegmentBuilder = (db: Connection, written: () => number, perSegment = eventsPerSegment) => {
  const segments = createSegmentRows(db);
  const readIndexed = db.prepare<[], number>('SELECT indexed FROM position').pluck();
  const countAfter = db
    .prepare<[number], number>('SELECT coalesce(sum(count), 0) FROM event_block WHERE through > ?')
    .pluck();
  const next = db.prepare<[number, number], BlockRow & { readonly count: number }>(
    `SELECT through, count, events, checksum FROM event_block WHERE through > ? AND through <= ? ORDER BY through LIMIT ${blocksPerStep}`,
  );
  const hashOf = attributeHashOf(db);
  const removeVisitors = createVisitorRemoval(db);
  let draft: Draft | undefined;
  let hasMore = false;
  /** Whether the next segment may have rows from an abandoned draft, perhaps left by a previous server. */
  let mayHaveRows = true;
  /** The number of unindexed events when `written` events had been written. */
  let counted: { events: number; written: number } | undefined;

  const waiting = (): number => {
    counted ??= { events: countAfter.get(readIndexed.get() as number) as number, written: written() };
    return counted.events + written() - counted.written;
  };

  /** Returns the next segment, from the first unindexed event on; undefined while there are too few. */
  const newSegment = (): Segment | undefined => {
    const first = waiting() >= perSegment ? next.get(readIndexed.get() as number, Infinity) : undefined;
    if (!first) return undefined;
    const after = sequenceAt(readBlock(first), 0) - 1;
    return { segment: segments.last() + 1, after, through: Infinity };
  };

  /** Starts the next segment, or the missing summary of an existing one. Returns whether there was anything to do. */
  const begin = (): boolean => {
    if (mayHaveRows && segments.dropRowsOf(segments.last() + 1)) return true;
    mayHaveRows = false;
    const nextSegment = newSegment();
    const source = nextSegment ?? segments.withoutSummary();
    if (!source) return false;
    const { segment, after, through: end } = source;
    // Deletes an incomplete summary that a previous server may have left.
    if (!nextSegment && segments.dropSummaryOf(segment)) return true;
    const postings = nextSegment ? createPostingLists() : undefined;
    const summary = createSummaryDraft(hashOf);
    draft = { segment, after, through: after, count: 0, postings, summary, end, writing: undefined };
    return true;
  };

  const read = (draft: Draft, compacted: number): boolean => {
    const { through: before, postings, summary } = draft;
    let characters = 0;
    let isFull = false;
    for (const row of next.iterate(before, Math.min(compacted, draft.end))) {
      const offset = row.through - draft.after;
      isFull = draft.count > 0 && offset > maxOffset;
      if (isFull) break;
      const block = readBlock(row);
      summary.read(block, offset);
      if (postings) for (let index = 0; index < sizeOf(block); index += 1) postings.add(factsAt(block, index), offset);
      draft.through = row.through;
      draft.count += row.count;
      characters += row.events.length;
      if (characters >= charactersPerStep) break;
    }
    const isRead = postings
      ? isFull || draft.count >= perSegment || summary.attributes() >= attributesPerSegment
      : draft.through === before;
    if (isRead) {
      draft.writing = segments.write(draft);
      mayHaveRows = true;
    }
    return isRead || draft.through > before;
  };

  /** Continues writing. Returns whether there is more to write. */
  const writeSome = (writing: Generator<number, void>): boolean => {
    for (let cost = 0; cost < costPerStep; ) {
      const { done, value } = writing.next();
      if (done) return false;
      cost += costOfRow + value;
    }
    return true;
  };

  const step = (compacted: number): boolean => {
    if (!draft) return begin() || segments.dropOldest();
    if (!draft.writing) return read(draft, compacted);
    if (!writeSome(draft.writing)) {
      draft = undefined;
      counted = undefined;
    }
    return true;
  };

  return {
    /** Runs a step, for blocks up to `compacted`. Returns whether there is more to do. Call it in a transaction. */
    step(compacted: number): boolean {
      hasMore = step(compacted);
      return hasMore;
    },
    /** Whether the last step left more to do. */
    hasMoreWork: (): boolean => hasMore,
    /**
     * The backlog of unindexed events: the number of segments over the limit, or 0 within the limit. Above 0, commits
     * wait for indexing steps (maintenance.ts).
     */
    behind: (): number => Math.max(0, waiting() / perSegment - maxWaitingSegments),
    /**
     * Removes deleted events from the summaries and from the backlog. After an error, call `forget` before the
     * transaction continues.
     */
    remove(events: readonly EventRow[]): void {
      removeVisitors(events);
      if (counted) {
        const indexed = readIndexed.get() as number;
        counted.events -= events.filter(({ sequence }) => sequence > indexed).length;
      }
      // Restarts the draft if it includes deleted events, or starts far before the remaining events.
      const { after = 0, through = 0, count = 0 } = draft ?? {};
      const isInDraft = ({ sequence }: EventRow) => sequence > after && (sequence <= through || count === 0);
      if (!draft || !events.some(isInDraft)) return;
      draft = undefined;
      hasMore = true;
    },
    forget() {
      draft = undefined;
      mayHaveRows = true;
      counted = undefined;
      hasMore = false;
    },
  };
};
export type SegmentBuilder = ReturnType<typeof createSegmentBuilder>;
