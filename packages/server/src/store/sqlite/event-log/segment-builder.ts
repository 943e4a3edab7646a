/**
 * Writes the postings and the summary of a segment (event-log.ts says what these are). Postings are written together and sorted, so
 * that they are appended in one place; single entries would each change a page. Until then event-tail.ts indexes the events in memory.
 */

import type { Connection } from '../database/connection.ts';
import { attributeHashOf } from './block-filter.ts';
import { factsAt, type KeptEvent, sequenceAt, sizeOf } from './event-block.ts';
import { type BlockRow, readBlock } from './event-block-row.ts';
import type { Segment } from './event-finder.ts';
import { createPostingLists, type PostingLists, posted } from './posting-lists.ts';
import { createSummaryDraft, type SummaryDraft } from './summary-draft.ts';
import { createVisitorRemoval } from './visitors.ts';

/** Events in a segment. Larger segments make lookups faster, but each reader holds as many events in memory. */
export const eventsPerSegment = 131_072;

/** The most events that may wait for indexing, in segments: readers index them in memory. */
const maxWaitingSegments = 3;

/** The most blocks that a step reads, and the most characters in them. */
const blocksPerStep = 64;
const charactersPerStep = 128 * 1024;
/** The most that a step of writing may cost: a row, plus 1 for each block, event or attribute that it covers. */
const costPerStep = 10_000;
const costOfRow = 20;
/** Rows that a step deletes from a table. */
const rowsPerStep = 1_000;

/** The most attributes in a summary: a segment ends early when its events have very many. */
const attributesPerSegment = 2 ** 21;

/** Places of blocks have 32 bits (block-times.ts): a segment ends before a block beyond this one. Copied sequences may have such gaps. */
const maxPlace = 2 ** 32 - 1;

/** A segment that is being written. */
interface Draft {
  readonly segment: number;
  /** Of a new segment, the sequence before that of its first event. */
  readonly after: number;
  through: number;
  count: number;
  /** Undefined when the postings are stored already and only the summary is missing. */
  readonly postings: PostingLists | undefined;
  readonly summary: SummaryDraft;
  /** The last sequence of the segment; Infinity while it is not known. */
  readonly end: number;
  /** Set once all blocks are read: writes row after row and yields the cost of each. */
  writing: Generator<number, void> | undefined;
}

export const createSegmentBuilder = (db: Connection, written: () => number, perSegment = eventsPerSegment) => {
  const readIndexed = db.prepare<[], number>('SELECT indexed FROM position').pluck();
  const writeIndexed = db.prepare('UPDATE position SET indexed = ?');
  const countAfter = db
    .prepare<[number], number>('SELECT coalesce(sum(count), 0) FROM event_block WHERE through > ?')
    .pluck();
  const lastSegment = db.prepare<[], number>('SELECT coalesce(max(segment), 0) FROM event_segment').pluck();
  const next = db.prepare<[number, number], BlockRow & { readonly count: number }>(
    `SELECT through, count, events, checksum FROM event_block WHERE through > ? AND through <= ? ORDER BY through LIMIT ${blocksPerStep}`,
  );
  const insertPosting = db.prepare('INSERT INTO event_posting VALUES (?, ?, ?, ?, ?)');
  const insertSegment = db.prepare('INSERT INTO event_segment VALUES (?, ?, ?)');
  /** The oldest segment, when none of its events is left. */
  const emptySegment = db
    .prepare<[], number>(`
      SELECT segment FROM event_segment WHERE through < coalesce((SELECT min(through) FROM event_block), 9e15)
      ORDER BY segment LIMIT 1`)
    .pluck();
  /** The oldest segment that has events left but no summary: it was written before there were summaries. */
  const unsummedSegment = db.prepare<[], Segment>(`
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
  const hashOf = attributeHashOf(db);
  const removeVisitors = createVisitorRemoval(db);
  let draft: Draft | undefined;
  let underWay = false;
  /** Whether the next segment may have rows of a draft that was given up, perhaps by the previous server. */
  let mayHaveRows = true;
  /** The number of events that no segment covered when `written` events had been written. */
  let counted: { events: number; written: number } | undefined;

  const waiting = (): number => {
    counted ??= { events: countAfter.get(readIndexed.get() as number) as number, written: written() };
    return counted.events + written() - counted.written;
  };

  /** Deletes some rows of a segment. Returns whether there were any. */
  const dropSome = (statements: typeof dropAll, segment: number): boolean =>
    statements.some((statement) => statement.run(segment).changes > 0);

  /** The next segment, which begins with the first event that none covers; undefined while too few events wait. */
  const newSegment = (): Segment | undefined => {
    const first = waiting() >= perSegment ? next.get(readIndexed.get() as number, Infinity) : undefined;
    if (!first) return undefined;
    const after = sequenceAt(readBlock(first), 0) - 1;
    return { segment: (lastSegment.get() as number) + 1, after, through: Infinity };
  };

  /** Begins the next segment, or else the summary of a segment that has none. Returns whether there was something to do. */
  const begin = (): boolean => {
    if (mayHaveRows && dropSome(dropAll, (lastSegment.get() as number) + 1)) return true;
    mayHaveRows = false;
    const fresh = newSegment();
    const found = fresh ?? unsummedSegment.get();
    if (!found) return false;
    const { segment, after, through: end } = found;
    // A previous server may have ended before it had written all of its summary.
    if (!fresh && dropSome(dropSummary, segment)) return true;
    const postings = fresh ? createPostingLists() : undefined;
    const summary = createSummaryDraft(hashOf);
    draft = { segment, after, through: after, count: 0, postings, summary, end, writing: undefined };
    return true;
  };

  function* write({ segment, after, through, postings, summary }: Draft): Generator<number, void> {
    for (const { what, number, eventID, list } of postings?.inOrder() ?? []) {
      insertPosting.run(segment, posted[what], number, eventID, JSON.stringify(list));
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
      // Copied bytes cost next to nothing.
      yield bits.length / 16;
    }
    insertSummary.run(segment, slices.count, summary.blocks());
    if (postings) {
      insertSegment.run(segment, after, through);
      writeIndexed.run(through);
    }
  }

  const read = (draft: Draft, compacted: number): boolean => {
    const { through: before, postings, summary } = draft;
    let characters = 0;
    let isFull = false;
    for (const row of next.iterate(before, Math.min(compacted, draft.end))) {
      const place = row.through - draft.after;
      isFull = draft.count > 0 && place > maxPlace;
      if (isFull) break;
      const block = readBlock(row);
      summary.read(block, place);
      if (postings) for (let index = 0; index < sizeOf(block); index += 1) postings.add(factsAt(block, index), place);
      draft.through = row.through;
      draft.count += row.count;
      characters += row.events.length;
      if (characters >= charactersPerStep) break;
    }
    const isRead = postings
      ? isFull || draft.count >= perSegment || summary.attributes() >= attributesPerSegment
      : draft.through === before;
    if (isRead) {
      draft.writing = write(draft);
      mayHaveRows = true;
    }
    return isRead || draft.through > before;
  };

  /** Continues writing; returns whether there is more to write. */
  const writeSome = (writing: Generator<number, void>): boolean => {
    for (let cost = 0; cost < costPerStep; ) {
      const { done, value } = writing.next();
      if (done) return false;
      cost += costOfRow + value;
    }
    return true;
  };

  /** Deletes the rows of the oldest segment once its last event is deleted. */
  const dropOldest = (): boolean => {
    const segment = emptySegment.get();
    if (segment === undefined) return false;
    if (!dropSome(dropAll, segment)) dropSegment.run(segment);
    return true;
  };

  const step = (compacted: number): boolean => {
    if (!draft) return begin() || dropOldest();
    if (!draft.writing) return read(draft, compacted);
    if (!writeSome(draft.writing)) {
      draft = undefined;
      counted = undefined;
    }
    return true;
  };

  return {
    /** Does some of the due work, for blocks up to `compacted`. Returns whether there is more. Call it in a transaction. */
    step(compacted: number): boolean {
      underWay = step(compacted);
      return underWay;
    },
    /** Whether the last step left more to do. */
    isUnderWay: (): boolean => underWay,
    /**
     * By how many segments the events that wait for indexing exceed the permitted number; 0 while they don't. Above 0, commits wait
     * for steps of indexing (maintenance.ts).
     */
    behind: (): number => Math.max(0, waiting() / perSegment - maxWaitingSegments),
    /**
     * Removes events that are being deleted from the summaries, where leaving them would change a result. They no longer count as waiting. The caller's
     * transaction must not go on after an error without `forget`.
     */
    remove(events: readonly KeptEvent[]): void {
      removeVisitors(events);
      if (counted) {
        const indexed = readIndexed.get() as number;
        counted.events -= events.filter(({ sequence }) => sequence > indexed).length;
      }
      // The draft has summed up events that are now deleted, or begins far before those that are left: it must begin again.
      const { after = 0, through = 0, count = 0 } = draft ?? {};
      const isOfDraft = ({ sequence }: KeptEvent) => sequence > after && (sequence <= through || count === 0);
      if (!draft || !events.some(isOfDraft)) return;
      draft = undefined;
      underWay = true;
    },
    forget() {
      draft = undefined;
      mayHaveRows = true;
      counted = undefined;
      underWay = false;
    },
  };
};
export type SegmentBuilder = ReturnType<typeof createSegmentBuilder>;
