/** Joins small blocks into full ones, so that events from commits of their own are read as quickly as events from a batch. */
import type { Connection } from '../database/connection.ts';
import type { Pending } from '../transactions/transaction.ts';
import { type BlockRow, readBlock } from './event-block-row.ts';
import { type BlockSize, type BlockWriter, charactersPerBlock, type StoredBlock } from './event-blocks.ts';

/** The most blocks that a step looks at, and the most bytes in them. */
const blocksPerStep = 128;
const bytesPerStep = 1024 * 1024;

/** The approximate number of events that are joined together; never fewer than a block holds. */
export const eventsPerCompaction = 1_024;

const sumOf = (group: readonly BlockSize[], what: 'count' | 'bytes'): number =>
  group.reduce((sum, size) => sum + size[what], 0);

const createRules = (eventsPerBlock: number) => ({
  isSmall: ({ count, bytes }: BlockSize) => count < eventsPerBlock / 2 && bytes < charactersPerBlock / 2,
  /** Whether the blocks together make a block that is not small. */
  areEnough: (group: readonly BlockSize[]): boolean =>
    sumOf(group, 'count') >= eventsPerBlock || sumOf(group, 'bytes') >= charactersPerBlock,
  /** Whether the blocks fit into one block with another, which is not small itself. */
  makeOne: (group: readonly BlockSize[], other: BlockSize): boolean =>
    group.length > 0 &&
    sumOf(group, 'count') + other.count <= eventsPerBlock &&
    sumOf(group, 'bytes') + other.bytes <= charactersPerBlock,
});

export interface Compaction extends Pending {
  /** Whether there may be enough small blocks. */
  isDue(): boolean;
  /** Joins some small blocks. Returns whether there may be more. Must be called in a transaction. */
  step(): boolean;
  /**
   * Blocks up to this sequence are final, except for erasures. Each of the few small ones among them is alone between larger
   * blocks.
   */
  readonly compacted: number;
}

export const createCompaction = (
  db: Connection,
  blocks: BlockWriter,
  perCompaction = eventsPerCompaction,
): Compaction => {
  const { isSmall, areEnough, makeOne } = createRules(blocks.eventsPerBlock);
  const readCompacted = db.prepare<[], number>('SELECT packed FROM position').pluck();
  const writeCompacted = db.prepare('UPDATE position SET packed = ?');
  const sizes = db.prepare<[number], BlockSize>(
    `SELECT through, count, octet_length(events) AS bytes FROM event_block WHERE through > ? ORDER BY through LIMIT ${blocksPerStep}`,
  );
  const load = db.prepare<[number], BlockRow>('SELECT through, events, checksum FROM event_block WHERE through = ?');
  let compacted = readCompacted.get() as number;
  /** The number of written events from which compaction is worth trying again. */
  let dueAt = 0;

  const stored = ({ through }: BlockSize): StoredBlock => ({
    through,
    block: readBlock(load.get(through) as BlockRow),
  });

  const isDue = () => blocks.written >= dueAt;

  return {
    isDue,
    get compacted() {
      return compacted;
    },
    step() {
      if (!isDue()) return false;
      let group: BlockSize[] = [];
      let events = 0;
      let bytes = 0;
      const before = compacted;
      let reached = before;
      let replaced = false;
      for (const size of sizes.all(compacted)) {
        if (events >= perCompaction || bytes >= bytesPerStep) break;
        events += size.count;
        bytes += size.bytes;
        if (!isSmall(size) && !makeOne(group, size)) {
          // The block stays: joined with the blocks before it, it would make every later block be rewritten.
          if (group.length > 1) {
            blocks.replace(group.map(stored));
            replaced = true;
          }
          group = [];
          reached = size.through;
          continue;
        }
        group.push(size);
        if (!areEnough(group)) continue;
        const made = blocks.replace(group.map(stored));
        replaced = true;
        reached = made.findLast((block, nth) => nth < made.length - 1 || !isSmall(block))?.through ?? reached;
        // The remainder begins the next group.
        group = made.slice(-1).filter(isSmall);
      }
      if (reached > before) {
        compacted = reached;
        writeCompacted.run(compacted);
      }
      if (replaced || reached > before) return true;
      // By then there are enough events to fill blocks.
      dueAt = blocks.written + perCompaction;
      return false;
    },
    forget() {
      compacted = readCompacted.get() as number;
      dueAt = 0;
    },
  };
};
