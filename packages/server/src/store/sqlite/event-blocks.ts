/** The blocks that events are kept in: one for each commit at first, and then packed together. */
import { charactersOf } from '../attributes.ts';
import type { Connection } from './connection.ts';
import { type EventBlock, eventsOf, type KeptEvent, only, sizeOf, toBlock } from './event-block.ts';
import { type BlockRow, readBlock, toBlockRow } from './event-block-row.ts';
import type { Pending } from './transaction.ts';

/**
 * Events in a block. More together take less room, and longer to read for one of them. So many, with three attributes each,
 * just fill a page of the database: with 64, an event takes 6 bytes more.
 */
export const usualEventsPerBlock = 72;

/** About so many characters of attributes at most; one event may always be more. */
export const charactersPerBlock = 64 * 1024;

export interface StoredBlock {
  /** What the block is known by: the sequence of the last event that was written into it. */
  readonly through: number;
  readonly block: EventBlock;
}

/** How much a block holds: so many events, and so many bytes of text. */
export interface BlockSize {
  readonly through: number;
  readonly count: number;
  readonly bytes: number;
}

export const createBlockReader = (db: Connection) => {
  const next = db.prepare<[number], BlockRow>(
    'SELECT through, events, checksum FROM event_block WHERE through > ? ORDER BY through LIMIT 1',
  );
  const stored = (row: BlockRow | undefined): StoredBlock | undefined =>
    row && { through: row.through, block: readBlock(row) };
  const last = db
    .prepare<[number], number>('SELECT coalesce(max(through), 0) FROM event_block WHERE through < ?')
    .pluck();
  return {
    /** The block that a sequence lies in, or the first after it. */
    containing: (sequence: number): StoredBlock | undefined => stored(next.get(sequence - 1)),
    /** The first block that has anything after a sequence. */
    after: (sequence: number): StoredBlock | undefined => stored(next.get(sequence)),
    /** What the last block that ends before a sequence is known by; 0 when there is none. */
    lastBefore: (sequence: number): number => last.get(sequence) as number,
  };
};

/** As few blocks as may hold them, of up to `most` events. */
const chunk = (events: readonly KeptEvent[], most: number): KeptEvent[][] => {
  const chunks: KeptEvent[][] = [];
  let characters = Infinity;
  for (const event of events) {
    const more = charactersOf(event);
    const last = chunks.at(-1);
    if (last && last.length < most && characters + more <= charactersPerBlock) {
      last.push(event);
      characters += more;
    } else {
      chunks.push([event]);
      characters = more;
    }
  }
  return chunks;
};

export interface BlockWriter extends Pending {
  /** A block holds at most this many events. */
  readonly eventsPerBlock: number;
  /** Keeps an event with the commit that is under way; sequences come in ascending order. */
  add(event: KeptEvent): void;
  flush(): void;
  /** What was added, and will be written with the commit. */
  readonly unwritten: readonly KeptEvent[];
  /** How many events were written since this was made, and how much text. */
  readonly written: number;
  readonly writtenBytes: number;
  /** Takes events out of a block. */
  remove(stored: StoredBlock, indexes: ReadonlySet<number>): void;
  /** One block, or few, in place of several that follow each other; answers how much each of them holds. */
  replace(blocks: readonly StoredBlock[]): BlockSize[];
}

export const createBlockWriter = (db: Connection, eventsPerBlock = usualEventsPerBlock): BlockWriter => {
  const insert = db.prepare('INSERT INTO event_block (through, count, events, checksum) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE event_block SET count = ?, events = ?, checksum = ? WHERE through = ?');
  const drop = db.prepare('DELETE FROM event_block WHERE through = ?');
  let pending: KeptEvent[] = [];
  let written = 0;
  let writtenBytes = 0;

  const write = (events: readonly KeptEvent[], most: number): BlockSize[] =>
    chunk(events, most).map((some) => {
      const { sequence: through } = some.at(-1) as KeptEvent;
      const { events: text, checksum } = toBlockRow(through, toBlock(some));
      insert.run(through, some.length, text, checksum);
      return { through, count: some.length, bytes: Buffer.byteLength(text) };
    });

  return {
    eventsPerBlock,
    add(event) {
      pending.push(event);
    },
    flush() {
      if (pending.length === 0) return;
      // As large as each other: what is over would be a small one, to be packed.
      const made = write(pending, Math.ceil(pending.length / Math.ceil(pending.length / eventsPerBlock)));
      for (const { bytes } of made) writtenBytes += bytes;
      written += pending.length;
      pending = [];
    },
    forget() {
      pending = [];
    },
    get unwritten() {
      return pending;
    },
    get written() {
      return written;
    },
    get writtenBytes() {
      return writtenBytes;
    },
    remove({ through, block }, indexes) {
      const rest: number[] = [];
      for (let index = 0; index < sizeOf(block); index += 1) if (!indexes.has(index)) rest.push(index);
      if (rest.length === 0) {
        drop.run(through);
        return;
      }
      const { events, checksum } = toBlockRow(through, only(block, rest));
      update.run(rest.length, events, checksum, through);
    },
    replace(blocks) {
      for (const { through } of blocks) drop.run(through);
      return write(
        blocks.flatMap(({ block }) => eventsOf(block)),
        eventsPerBlock,
      );
    },
  };
};
