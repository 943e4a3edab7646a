/**
 * Whose events are in which blocks, written down for a long stretch of them at once: sorted, so that it is appended to one
 * place, where entries that are made one by one change a page each. Until then, event-tail.ts knows it by heart.
 */
import type { Connection } from './connection.ts';
import { type EventBlock, factsAt, sizeOf } from './event-block.ts';
import type { Pending } from './transaction.ts';

/** Events of a segment. More are looked up faster; but so many are held in memory by each reader. */
export const eventsPerSegment = 131_072;

const blocksPerStep = 64;
const postingsPerStep = 2_000;

/** What a posting is about: the number of which is the first part of its key. */
export const posted = { user: 0, contact: 1, account: 2, kind: 3 } as const;
export type Posted = keyof typeof posted;

interface Posting {
  readonly what: number;
  readonly number: number;
  readonly eventID: number;
  readonly blocks: number[];
}

interface Block {
  readonly through: number;
  readonly count: number;
  readonly events: string;
}

/** A segment that is being written. */
interface Draft {
  readonly segment: number;
  readonly after: number;
  through: number;
  count: number;
  readonly postings: Map<string, Posting>;
  /** In the order in which they are to be written, once all of them are known. */
  sorted: Posting[] | undefined;
  written: number;
}

const inOrder = (a: Posting, b: Posting) => a.what - b.what || a.number - b.number || a.eventID - b.eventID;

const note = ({ postings }: Draft, what: number, number: number, eventID: number, at: number) => {
  const key = `${what} ${number} ${eventID}`;
  const known = postings.get(key);
  if (!known) postings.set(key, { what, number, eventID, blocks: [at] });
  else if (known.blocks.at(-1) !== at) known.blocks.push(at);
};

const noteBlock = (draft: Draft, block: EventBlock, at: number) => {
  for (let index = 0; index < sizeOf(block); index += 1) {
    const { account, user, contact, eventID } = factsAt(block, index);
    if (user !== null) note(draft, posted.user, user, 0, at);
    if (contact !== null) note(draft, posted.contact, contact, 0, at);
    note(draft, posted.account, account, 0, at);
    note(draft, posted.kind, account, eventID, at);
  }
};

export interface Indexing extends Pending {
  /** Does a part of what is due, of blocks up to `packed`; answers whether there is more. To be called in a transaction. */
  step(packed: number): boolean;
  /** Whether a segment has been begun and not ended. */
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
  const next = db.prepare<[number, number], Block>(
    `SELECT through, count, events FROM event_block WHERE through > ? AND through <= ? ORDER BY through LIMIT ${blocksPerStep}`,
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
    draft = { segment, after, through: after, count: 0, postings: new Map(), sorted: undefined, written: 0 };
    return true;
  };

  const read = (draft: Draft, packed: number): boolean => {
    const blocks = next.all(draft.through, packed);
    for (const { through, count, events } of blocks) {
      noteBlock(draft, JSON.parse(events) as EventBlock, through - draft.after);
      draft.through = through;
      draft.count += count;
    }
    if (draft.count >= perSegment) draft.sorted = [...draft.postings.values()].sort(inOrder);
    return blocks.length > 0;
  };

  const write = (draft: Draft, sorted: readonly Posting[]): boolean => {
    const some = sorted.slice(draft.written, draft.written + postingsPerStep);
    for (const { what, number, eventID, blocks } of some) {
      insertPosting.run(draft.segment, what, number, eventID, JSON.stringify(blocks));
    }
    draft.written += some.length;
    return some.length > 0;
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

  return {
    step(packed) {
      if (!draft) return begin() || dropOldest();
      if (!draft.sorted) return read(draft, packed);
      if (!write(draft, draft.sorted)) end(draft);
      return true;
    },
    isUnderWay: () => draft !== undefined,
    isBehind: () => waiting() > 3 * perSegment,
    forget() {
      draft = undefined;
      counted = undefined;
    },
  };
};
