/** Small blocks become full ones: what was kept with a commit of its own is read as quickly as what came in a batch. */
import type { Connection } from './connection.ts';
import { type BlockRow, readBlock } from './event-block-row.ts';
import { type BlockSize, type BlockWriter, charactersPerBlock, type StoredBlock } from './event-blocks.ts';
import type { Pending } from './transaction.ts';

/** Blocks that a step looks at, and what they may hold together. */
const blocksPerStep = 128;
const bytesPerStep = 1024 * 1024;

/** About how many events are packed together: as many as a block holds, at least. */
export const eventsPerPacking = 1_024;

const sumOf = (group: readonly BlockSize[], what: 'count' | 'bytes'): number =>
  group.reduce((sum, size) => sum + size[what], 0);

const createRules = (eventsPerBlock: number) => ({
  isSmall: ({ count, bytes }: BlockSize) => count < eventsPerBlock / 2 && bytes < charactersPerBlock / 2,
  /** Whether together they make a block that is not small. */
  areEnough: (group: readonly BlockSize[]): boolean =>
    sumOf(group, 'count') >= eventsPerBlock || sumOf(group, 'bytes') >= charactersPerBlock,
  /** Whether they fit into one block with another, which is not small by itself. */
  makeOne: (group: readonly BlockSize[], other: BlockSize): boolean =>
    group.length > 0 &&
    sumOf(group, 'count') + other.count <= eventsPerBlock &&
    sumOf(group, 'bytes') + other.bytes <= charactersPerBlock,
});

export interface Packing extends Pending {
  /** Whether there may be enough that is small. */
  isDue(): boolean;
  /** Packs some of what is small; answers whether there may be more. To be called in a transaction. */
  step(): boolean;
  /** Up to here blocks stay as they are, but for what is erased: the few small ones among them stand alone between larger ones. */
  readonly packed: number;
}

export const createPacking = (db: Connection, blocks: BlockWriter, perPacking = eventsPerPacking): Packing => {
  const { isSmall, areEnough, makeOne } = createRules(blocks.eventsPerBlock);
  const readPacked = db.prepare<[], number>('SELECT packed FROM position').pluck();
  const writePacked = db.prepare('UPDATE position SET packed = ?');
  const sizes = db.prepare<[number], BlockSize>(
    `SELECT through, count, octet_length(events) AS bytes FROM event_block WHERE through > ? ORDER BY through LIMIT ${blocksPerStep}`,
  );
  const load = db.prepare<[number], BlockRow>('SELECT through, events, checksum FROM event_block WHERE through = ?');
  let packed = readPacked.get() as number;
  /** Nothing is to be packed before so many events were written. */
  let dueAt = 0;

  const stored = ({ through }: BlockSize): StoredBlock => ({
    through,
    block: readBlock(load.get(through) as BlockRow),
  });

  const isDue = () => blocks.written >= dueAt;

  return {
    isDue,
    get packed() {
      return packed;
    },
    step() {
      if (!isDue()) return false;
      let group: BlockSize[] = [];
      let events = 0;
      let bytes = 0;
      const before = packed;
      let reached = before;
      let replaced = false;
      for (const size of sizes.all(packed)) {
        if (events >= perPacking || bytes >= bytesPerStep) break;
        events += size.count;
        bytes += size.bytes;
        if (!isSmall(size) && !makeOne(group, size)) {
          // It stays as it is: with what is before it, every block after it would be written anew.
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
        // What is over begins the next.
        group = made.slice(-1).filter(isSmall);
      }
      if (reached > before) {
        packed = reached;
        writePacked.run(packed);
      }
      if (replaced || reached > before) return true;
      // What there is by then makes full blocks, and is worth the while.
      dueAt = blocks.written + perPacking;
      return false;
    },
    forget() {
      packed = readPacked.get() as number;
      dueAt = 0;
    },
  };
};
