/** Reads and writes blocks of events. Each commit writes its own blocks; compaction.ts merges them later. */
import { charactersOf } from '../../rules/event-row.ts';
import type { Connection } from '../database/connection.ts';
import { type EventBlock, type EventRow, eventsOf, pickEvents, toBlock } from './event-block.ts';
import { type BlockRow, isWhole, readBlock, toBlockRow } from './event-block-row.ts';

/**
 * The number of events in a block. Larger blocks take less space, but reading one event is slower. 72 events with three
 * attributes exactly fill a database page. With 64 events per block, each event takes 6 more bytes.
 */
export const defaultEventsPerBlock = 72;

/** The approximate maximum length of a block's attributes. A single event may exceed it. */
export const charactersPerBlock = 64 * 1024;

/**
 * The maximum difference between sequences in a block: copied sequences may have gaps, and a segment can't start inside
 * a block.
 */
export const maxSpan = 2 ** 30;

export interface StoredBlock {
  /** The block's key: the sequence of the last event written to it. */
  readonly through: number;
  readonly block: EventBlock;
}

/** The location of an event, for functions such as `eventAt`. */
export interface EventPlace {
  readonly stored: StoredBlock;
  readonly index: number;
}

export interface BlockSize {
  readonly through: number;
  readonly count: number;
  readonly bytes: number;
}

export const createBlockReader = (db: Connection) => {
  const next = db.prepare<[number], BlockRow>(
    'SELECT through, events, checksum FROM event_block WHERE through > ? ORDER BY through LIMIT 1',
  );
  const toStoredBlock = (row: BlockRow): StoredBlock => ({ through: row.through, block: readBlock(row) });
  const last = db
    .prepare<[number], number>('SELECT coalesce(max(through), 0) FROM event_block WHERE through < ?')
    .pluck();
  return {
    /** Returns the block that contains a sequence or, if there is none, the first block after the sequence. */
    containing(sequence: number): StoredBlock | undefined {
      const row = next.get(sequence - 1);
      return row && toStoredBlock(row);
    },
    /** Yields the blocks with events after a sequence, in order. Throws on a damaged block, unless `skipDamaged`. */
    *after(sequence: number, skipDamaged = false): Generator<StoredBlock> {
      for (let row = next.get(sequence); row; row = next.get(row.through)) {
        if (!skipDamaged || isWhole(row)) yield toStoredBlock(row);
      }
    },
    /** Returns the key of the last block that ends before a sequence; 0 if there is none. */
    lastBefore: (sequence: number): number => last.get(sequence) as number,
  };
};

/** Splits events into as few blocks as possible, of up to `limit` events, and at large gaps. */
const chunk = (events: readonly EventRow[], limit: number): EventRow[][] => {
  const chunks: EventRow[][] = [];
  let characters = Infinity;
  for (const event of events) {
    const more = charactersOf(event);
    const last = chunks.at(-1);
    const isNear = last !== undefined && event.sequence - (last[0] as EventRow).sequence <= maxSpan;
    if (isNear && last.length < limit && characters + more <= charactersPerBlock) {
      last.push(event);
      characters += more;
    } else {
      chunks.push([event]);
      characters = more;
    }
  }
  return chunks;
};

export const createBlockWriter = (db: Connection, eventsPerBlock = defaultEventsPerBlock) => {
  const insert = db.prepare('INSERT INTO event_block (through, count, events, checksum) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE event_block SET count = ?, events = ?, checksum = ? WHERE through = ?');
  const drop = db.prepare('DELETE FROM event_block WHERE through = ?');
  let pending: EventRow[] = [];
  let written = 0;
  let writtenBytes = 0;

  const write = (events: readonly EventRow[], limit: number): BlockSize[] =>
    chunk(events, limit).map((some) => {
      const { sequence: through } = some.at(-1) as EventRow;
      const { events: text, checksum } = toBlockRow(through, toBlock(some));
      insert.run(through, some.length, text, checksum);
      return { through, count: some.length, bytes: Buffer.byteLength(text) };
    });

  const removeFrom = ({ through, block }: StoredBlock, indexes: ReadonlySet<number>) => {
    const rest = [...block.eventUUID.keys()].filter((index) => !indexes.has(index));
    if (rest.length === 0) {
      drop.run(through);
      return;
    }
    const { events, checksum } = toBlockRow(through, pickEvents(block, rest));
    update.run(rest.length, events, checksum, through);
  };

  return {
    eventsPerBlock,
    /** Adds an event to the current commit. Call it in ascending order of sequence. */
    add(event: EventRow): void {
      pending.push(event);
    },
    flush(): void {
      if (pending.length === 0) return;
      // Divides the events into blocks of equal size, because a small last block would have to be compacted.
      const blocks = write(pending, Math.ceil(pending.length / Math.ceil(pending.length / eventsPerBlock)));
      for (const { bytes } of blocks) writtenBytes += bytes;
      written += pending.length;
      pending = [];
    },
    forget() {
      pending = [];
    },
    /** The added events that will be written with the commit. */
    unwritten: (): readonly EventRow[] => pending,
    /** The number of events written by this writer, and the bytes of their text. */
    written: (): number => written,
    writtenBytes: (): number => writtenBytes,
    remove(places: readonly EventPlace[]): void {
      const byBlock = new Map<StoredBlock, Set<number>>();
      for (const { stored, index } of places) byBlock.set(stored, (byBlock.get(stored) ?? new Set()).add(index));
      for (const [stored, indexes] of byBlock) removeFrom(stored, indexes);
    },
    /** Replaces consecutive blocks with one or a few full blocks. Returns the sizes of the new blocks. */
    replace(blocks: readonly StoredBlock[]): BlockSize[] {
      for (const { through } of blocks) drop.run(through);
      return write(
        blocks.flatMap(({ block }) => eventsOf(block)),
        eventsPerBlock,
      );
    },
  };
};
export type BlockWriter = ReturnType<typeof createBlockWriter>;

/** Counts the blocks that don't match their checksums. */
export const countDamagedBlocks = (db: Connection): number => {
  let damaged = 0;
  const rows = db.prepare<[], BlockRow>('SELECT through, events, checksum FROM event_block');
  for (const row of rows.iterate()) if (!isWhole(row)) damaged += 1;
  return damaged;
};
