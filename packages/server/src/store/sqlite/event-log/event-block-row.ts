/** A block's row: its text and a checksum. Reads reject damaged blocks. */
import { crc32 } from 'node:zlib';
import type { EventBlock } from './event-block.ts';

export interface BlockRow {
  /** The block's key: the sequence of the last event written to it. */
  readonly through: number;
  readonly events: string;
  /** Null in a block from before checksums were introduced. */
  readonly checksum: number | null;
}

const checksumOf = ({ through, events }: Pick<BlockRow, 'through' | 'events'>): number =>
  // Seeded with the key, so that a block in another row doesn't match.
  crc32(events, through % 2 ** 32);

/** Whether the row matches its checksum; true if it has no checksum. */
export const isWhole = (row: BlockRow): boolean => row.checksum === null || row.checksum === checksumOf(row);

/** Throws if the row doesn't match its checksum. */
export const readBlock = (row: BlockRow): EventBlock => {
  if (!isWhole(row)) {
    throw new Error(
      `the events up to sequence ${row.through} are damaged: the checksum does not match; restore a backup`,
    );
  }
  return JSON.parse(row.events) as EventBlock;
};

/** Builds the row for a block. */
export const toBlockRow = (through: number, block: EventBlock): BlockRow & { readonly checksum: number } => {
  const events = JSON.stringify(block);
  return { through, events, checksum: checksumOf({ through, events }) };
};
