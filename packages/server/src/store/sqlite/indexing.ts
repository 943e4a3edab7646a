/**
 * Whose events are in which blocks, written down for a long stretch of them at once: sorted, so that it is appended to one
 * place, where entries that are made one by one change a page each. Until then, event-tail.ts knows it by heart.
 */
import type { Connection } from './connection.ts';
import type { EventBlock } from './event-block.ts';
import { type BlockRow, readBlock } from './event-block-row.ts';
import { createPostingsDraft, type PostingsDraft } from './postings-draft.ts';
import type { Pending } from './transaction.ts';

/** Events of a segment. More are looked up faster; but so many are held in memory by each reader. */
export const eventsPerSegment = 131_072;

/** Blocks that a step reads, and what they may hold together. */
const blocksPerStep = 64;
const charactersPerStep = 512 * 1024;
/** Postings that a step writes, or deletes, and how many blocks they may name together. */
const postingsPerStep = 1_000;
const placesPerStep = 20_000;

/** A segment that is being written. */
interface Draft {
  readonly segment: number;
  readonly after: number;
  through: number;
  count: number;
  readonly postings: PostingsDraft;
  /** Whether all is read: then the postings are written. */
  isRead: boolean;
}

export interface Indexing extends Pending {
  /** Does a part of what is due, of blocks up to `packed`; answers whether there is more. To be called in a transaction. */
  step(packed: number): boolean;
  /** Whether there was more to do when it was asked last. */
  isUnderWay(): boolean;
  /** Whether so much waits for it that it goes before what is still to be kept. */
  isBehind(): boolean;
}

export const createIndexing = (db: Connection, written: () => number, perSegment = eventsPerSegment): Indexing => {
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
  /** The oldest segment, when no event of it is left. */
  const emptySegment = db
    .prepare<[], number>(`
      SELECT segment FROM event_segment WHERE through < coalesce((SELECT min(through) FROM event_block), 9e15)
      ORDER BY segment LIMIT 1`)
    .pluck();
  const key = 'segment, what, number, eventID';
  const dropPostings = db.prepare(
    `DELETE FROM event_posting WHERE (${key}) IN (SELECT ${key} FROM event_posting WHERE segment = ? LIMIT ${postingsPerStep})`,
  );
  const dropSegment = db.prepare('DELETE FROM event_segment WHERE segment = ?');
  let draft: Draft | undefined;
  let underWay = false;
  /** How many events no segment tells of, when so many had been written. */
  let counted: { events: number; written: number } | undefined;

  const waiting = (): number => {
    counted ??= { events: countAfter.get(readIndexed.get() as number) as number, written: written() };
    return counted.events + written() - counted.written;
  };

  const begin = (): boolean => {
    if (waiting() < perSegment) return false;
    const segment = (lastSegment.get() as number) + 1;
    // What a server wrote of it that has ended before all was written.
    if (dropPostings.run(segment).changes > 0) return true;
    const after = readIndexed.get() as number;
    draft = { segment, after, through: after, count: 0, postings: createPostingsDraft(), isRead: false };
    return true;
  };

  const read = (draft: Draft, packed: number): boolean => {
    const { through: before } = draft;
    const blocks: (readonly [EventBlock, number])[] = [];
    let characters = 0;
    for (const row of next.iterate(before, packed)) {
      blocks.push([readBlock(row), row.through - draft.after]);
      draft.through = row.through;
      draft.count += row.count;
      characters += row.events.length;
      if (characters >= charactersPerStep) break;
    }
    draft.postings.read(blocks);
    draft.isRead = draft.count >= perSegment;
    return draft.through > before;
  };

  /** Answers whether there was anything to write. */
  const write = ({ segment, postings }: Draft): boolean => {
    let places = 0;
    for (let written = 0; written < postingsPerStep && places < placesPerStep; written += 1) {
      const posting = postings.take();
      if (!posting) return written > 0;
      const { what, number, eventID, blocks } = posting;
      insertPosting.run(segment, what, number, eventID, JSON.stringify(blocks));
      places += blocks.length;
    }
    return true;
  };

  const end = ({ segment, after, through }: Draft) => {
    insertSegment.run(segment, after, through);
    writeIndexed.run(through);
    draft = undefined;
    counted = undefined;
  };

  /** Postings go with the last of the events that they told of. */
  const dropOldest = (): boolean => {
    const segment = emptySegment.get();
    if (segment === undefined) return false;
    if (dropPostings.run(segment).changes === 0) dropSegment.run(segment);
    return true;
  };

  const step = (packed: number): boolean => {
    if (!draft) return begin() || dropOldest();
    if (!draft.isRead) return read(draft, packed);
    if (!write(draft)) end(draft);
    return true;
  };

  return {
    step(packed) {
      underWay = step(packed);
      return underWay;
    },
    isUnderWay: () => underWay,
    isBehind: () => waiting() > 3 * perSegment,
    forget() {
      draft = undefined;
      counted = undefined;
      underWay = false;
    },
  };
};
