/** Joins small blocks into full ones, so that events from commits of their own are read as quickly as events from a batch. */
import type { Connection } from '../database/connection.ts';
import {
  type BlockSize,
  type BlockWriter,
  charactersPerBlock,
  createBlockReader,
  maxSpan,
  type StoredBlock,
} from './event-blocks.ts';

/** The most blocks that a step looks at, and the most bytes in them. */
const blocksPerStep = 128;
const bytesPerStep = 1024 * 1024;

/** The approximate number of events that are joined together; never fewer than a block holds. */
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
  /** The number of written events from which compaction is worth trying again. */
  let dueAt = 0;

  const isSmall = ({ count, bytes }: Size) => count < eventsPerBlock / 2 && bytes < charactersPerBlock / 2;
  const fitsInOne = ({ count, bytes }: Size) => count <= eventsPerBlock && bytes <= charactersPerBlock;
  /** Whether blocks of this size together make a block that is not small. */
  const isEnough = ({ count, bytes }: Size) => count >= eventsPerBlock || bytes >= charactersPerBlock;
  const isDue = (): boolean => blocks.written() >= dueAt;

  return {
    /** Whether there may be enough small blocks. */
    isDue,
    /**
     * Blocks up to this sequence are final, except for erasures. Each of the few small ones among them is alone between larger
     * blocks.
     */
    compacted: (): number => compacted,
    /** Joins some small blocks. Returns whether there may be more. Must be called in a transaction. */
    step(): boolean {
      if (!isDue()) return false;
      let group: BlockSize[] = [];
      let events = 0;
      let bytes = 0;
      const before = compacted;
      let reached = before;
      let replaced = false;
      const join = (group: readonly BlockSize[]): BlockSize[] => {
        replaced = true;
        return blocks.replace(group.map(({ through }) => reader.containing(through) as StoredBlock));
      };
      const endGroup = () => {
        reached = group.at(-1)?.through ?? reached;
        if (group.length > 1) join(group);
        group = [];
      };
      for (const size of sizes.all(compacted)) {
        if (events >= perCompaction || bytes >= bytesPerStep) break;
        events += size.count;
        bytes += size.bytes;
        const [first] = group;
        if (first && size.through - first.through > maxSpan) endGroup();
        if (!isSmall(size) && (group.length === 0 || !fitsInOne(sumOf([...group, size])))) {
          // The block stays: joined with the blocks before it, it would make every later block be rewritten.
          endGroup();
          reached = size.through;
          continue;
        }
        group.push(size);
        if (!isEnough(sumOf(group))) continue;
        const made = join(group);
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
