/** Small blocks become full ones: what was kept with a commit of its own is read as quickly as what came in a batch. */

import type { Connection } from './connection.ts';
import type { EventBlock } from './event-block.ts';
import { type BlockWriter, eventsPerBlock, type StoredBlock } from './event-blocks.ts';
import type { Pending } from './transaction.ts';

/** A block with fewer is small. */
const fewest = eventsPerBlock / 2;

/** Blocks that a step looks at. */
const blocksPerStep = 256;

/** About how many events are packed together: as many as a block holds, at least. */
export const eventsPerPacking = 1_024;

interface Row {
  readonly through: number;
  readonly count: number;
}

export interface Packing extends Pending {
  /** Whether there may be enough that is small. */
  isDue(): boolean;
  /** Packs some of what is small; answers whether there may be more. To be called in a transaction. */
  step(): boolean;
  /** Up to here no block is small. */
  readonly packed: number;
}

export const createPacking = (db: Connection, blocks: BlockWriter, perPacking = eventsPerPacking): Packing => {
  const readPacked = db.prepare<[], number>('SELECT packed FROM position').pluck();
  const writePacked = db.prepare('UPDATE position SET packed = ?');
  const sizes = db.prepare<[number], Row>(
    `SELECT through, count FROM event_block WHERE through > ? ORDER BY through LIMIT ${blocksPerStep}`,
  );
  const load = db.prepare<[number], string>('SELECT events FROM event_block WHERE through = ?').pluck();
  let packed = readPacked.get() as number;
  /** Nothing is to be packed before so many events were written. */
  let dueAt = 0;

  const stored = ({ through }: Row): StoredBlock => ({
    through,
    block: JSON.parse(load.get(through) as string) as EventBlock,
  });

  const isDue = () => blocks.written >= dueAt;

  return {
    isDue,
    get packed() {
      return packed;
    },
    step() {
      if (!isDue()) return false;
      const rows = sizes.all(packed);
      let group: Row[] = [];
      let count = 0;
      let looked = 0;
      let reached = packed;
      for (const row of rows) {
        if (looked >= perPacking) break;
        looked += row.count;
        if (group.length > 0 || row.count < fewest) {
          group.push(row);
          count += row.count;
          if (count < eventsPerBlock) continue;
          blocks.replace(group.map(stored));
          group = [];
          count = 0;
        }
        reached = row.through;
      }
      if (reached > packed) {
        packed = reached;
        writePacked.run(packed);
        return true;
      }
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
