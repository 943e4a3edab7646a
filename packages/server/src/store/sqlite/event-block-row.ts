/** How a block stands in the database: its text beside a checksum, so that damage is refused and not served. */
import { crc32 } from 'node:zlib';
import type { EventBlock } from './event-block.ts';

export interface BlockRow {
  /** What the block is known by: the sequence of the last event that was written into it. */
  readonly through: number;
  readonly events: string;
  /** Null when it was written before there were checksums. */
  readonly checksum: number | null;
}

export const checksumOf = ({ through, events }: Pick<BlockRow, 'through' | 'events'>): number =>
  // Begun with what the block is known by: it is good in its own place only.
  crc32(events, through % 2 ** 32);

/** Whether it is what was written. */
export const isWhole = (row: BlockRow): boolean => row.checksum === null || row.checksum === checksumOf(row);

/** Throws when it isn't what was written. */
export const readBlock = (row: BlockRow): EventBlock => {
  if (!isWhole(row)) {
    throw new Error(
      `the events up to sequence ${row.through} are damaged: their checksum is another; restore a backup`,
    );
  }
  return JSON.parse(row.events) as EventBlock;
};

/** The row that a block is to stand in. */
export const toBlockRow = (through: number, block: EventBlock): BlockRow & { readonly checksum: number } => {
  const events = JSON.stringify(block);
  return { through, events, checksum: checksumOf({ through, events }) };
};
