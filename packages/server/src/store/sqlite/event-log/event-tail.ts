/** The in-memory index of the newest events, which are not in a segment yet. */
import type { Connection } from '../database/connection.ts';
import { factsAt, sizeOf } from './event-block.ts';
import { createBlockReader } from './event-blocks.ts';
import { createPostingLists, type PostingKey } from './posting-lists.ts';

/** The maximum cost of a `refresh`, in events. Reading a block costs as much as a few events. */
const maxCost = 8_192;
const costOfBlock = 8;

export const createEventTail = (db: Connection) => {
  const readIndexed = db.prepare<[], number>('SELECT indexed FROM position').pluck();
  const blocks = createBlockReader(db);
  let lists = createPostingLists();
  let indexed = 0;
  let loaded = 0;

  return {
    /** Loads some of the events committed since the last call. Returns whether all of these events are loaded. */
    refresh(): boolean {
      const now = readIndexed.get() as number;
      if (now > indexed) {
        lists.removeUpTo(now);
        indexed = now;
        loaded = Math.max(loaded, indexed);
      }
      let cost = 0;
      for (const { through, block } of blocks.after(loaded)) {
        for (let index = 0; index < sizeOf(block); index += 1) {
          const facts = factsAt(block, index);
          // Skips events that were loaded before, which a compacted block may contain.
          if (facts.sequence > loaded) lists.add(facts, facts.sequence);
        }
        loaded = through;
        cost += costOfBlock + sizeOf(block);
        if (cost >= maxCost) return false;
      }
      return true;
    },
    /** The last sequence that stored postings cover. */
    indexed: (): number => indexed,
    /** Returns the sequences of a key's events, ascending, with after < sequence ≤ through. */
    find: (key: PostingKey, after: number, through: number): readonly number[] => lists.between(key, after, through),
    forget() {
      lists = createPostingLists();
      indexed = 0;
      loaded = 0;
    },
  };
};
export type EventTail = ReturnType<typeof createEventTail>;
