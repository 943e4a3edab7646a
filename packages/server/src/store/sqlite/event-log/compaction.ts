/**
 * Merges small blocks into full blocks, so that events from small commits can be read as fast as events from a batch.
 */
import type { Connection } from '../database/connection.ts';
import {
  type BlockSize,
  type BlockWriter,
  charactersPerBlock,
  createBlockReader,
  maxSpan,
  type StoredBlock,
} from './event-blocks.ts';

/** The limits of a step. */
const blocksPerStep = 128;
const bytesPerStep = 1024 * 1024;

/** The approximate number of events per compaction, but at least those of one block. */
const eventsPerCompaction = 1_024;

type Size = Pick<BlockSize, 'count' | 'bytes'>;
const sumOf = (sizes: readonly Size[]): Size =>
  sizes.reduce((sum, { count, bytes }) => ({ count: sum.count + count, bytes: sum.bytes + bytes }), {
    count: 0,
    bytes: 0,
  });

export const createCompaction = (db: Connection, blocks: BlockWriter, perCompaction = eventsPerCompaction) => {
  const { eventsPerBlock } = blocks;
  const reader = createBlockReader(db);
  const readCompacted = db.prepare<[], number>('SELECT packed FROM position').pluck();
  const writeCompacted = db.prepare('UPDATE position SET packed = ?');
  const sizes = db.prepare<[number], BlockSize>(
    `SELECT through, count, octet_length(events) AS bytes FROM event_block WHERE through > ? ORDER BY through LIMIT ${blocksPerStep}`,
  );
  let compacted = readCompacted.get() as number;
  /** The number of written events at which the next compaction is worthwhile. */
  let dueAt = 0;

  const isSmall = ({ count, bytes }: Size) => count < eventsPerBlock / 2 && bytes < charactersPerBlock / 2;
  const fitsInOne = ({ count, bytes }: Size) => count <= eventsPerBlock && bytes <= charactersPerBlock;
  /** Whether blocks of this total size are enough for a full block. */
  const isEnough = ({ count, bytes }: Size) => count >= eventsPerBlock || bytes >= charactersPerBlock;
  const isDue = (): boolean => blocks.written() >= dueAt;

  return {
    /** Whether enough events were written since the last compaction that another may be worthwhile. */
    isDue,
    /**
     * Blocks up to this sequence are final, except for erasures. The few small blocks among them have larger neighbors.
     */
    compacted: (): number => compacted,
    /** Merges some small blocks. Returns whether there may be more. Call it in a transaction. */
    step(): boolean {
      if (!isDue()) return false;
      let group: BlockSize[] = [];
      let events = 0;
      let bytes = 0;
      const before = compacted;
      let reached = before;
      let hasReplaced = false;
      const merge = (group: readonly BlockSize[]): BlockSize[] => {
        hasReplaced = true;
        return blocks.replace(group.map(({ through }) => reader.containing(through) as StoredBlock));
      };
      const endGroup = () => {
        reached = group.at(-1)?.through ?? reached;
        if (group.length > 1) merge(group);
        group = [];
      };
      for (const size of sizes.all(compacted)) {
        if (events >= perCompaction || bytes >= bytesPerStep) break;
        events += size.count;
        bytes += size.bytes;
        const [first] = group;
        if (first && size.through - first.through > maxSpan) endGroup();
        if (!isSmall(size) && (group.length === 0 || !fitsInOne(sumOf([...group, size])))) {
          // Keeps the block unchanged, because merging it with the previous blocks would shift and rewrite every later
          // block.
          endGroup();
          reached = size.through;
          continue;
        }
        group.push(size);
        if (!isEnough(sumOf(group))) continue;
        const merged = merge(group);
        reached = merged.findLast((block, nth) => nth < merged.length - 1 || !isSmall(block))?.through ?? reached;
        // Starts the next group with the remainder.
        group = merged.slice(-1).filter(isSmall);
      }
      if (reached > before) {
        compacted = reached;
        writeCompacted.run(compacted);
      }
      if (hasReplaced || reached > before) return true;
      // From then on, there are enough events to fill blocks.
      dueAt = blocks.written() + perCompaction;
      return false;
    },
    forget() {
      compacted = readCompacted.get() as number;
      dueAt = 0;
    },
  };
};
export type Compaction = ReturnType<typeof createCompaction>;
