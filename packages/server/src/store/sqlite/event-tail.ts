/** The newest events, of which no posting tells yet whose they are: known by heart, as numbers. */
import type { Connection } from './connection.ts';
import { type EventBlock, type EventFacts, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import type { Pending } from './transaction.ts';

export interface EventTail extends Pending {
  /** The sequences of those that match, ascending, with after < sequence <= through. Costs a look at each. */
  find(isSought: (event: EventFacts) => boolean, after: number, through: number): number[];
  /** Takes in what was committed since; answers up to which sequence the postings tell. */
  refresh(): number;
}

export const createEventTail = (db: Connection): EventTail => {
  const readIndexed = db.prepare<[], number>('SELECT indexed FROM position').pluck();
  const blocksAfter = db.prepare<[number], { through: number; events: string }>(
    'SELECT through, events FROM event_block WHERE through > ? ORDER BY through',
  );
  let facts: EventFacts[] = [];
  let indexed = 0;
  let loaded = 0;

  const take = (block: EventBlock) => {
    for (let index = 0; index < sizeOf(block); index += 1) {
      const sequence = sequenceAt(block, index);
      // What was packed together may hold some that were met before.
      if (sequence <= loaded) continue;
      facts.push(factsAt(block, index));
    }
  };

  return {
    refresh() {
      const now = readIndexed.get() as number;
      if (now > indexed) {
        indexed = now;
        loaded = Math.max(loaded, indexed);
        facts = facts.filter(({ sequence }) => sequence > indexed);
      }
      for (const { through, events } of blocksAfter.all(loaded)) {
        take(JSON.parse(events) as EventBlock);
        loaded = through;
      }
      return indexed;
    },
    find(isSought, after, through) {
      const found: number[] = [];
      for (const event of facts) {
        if (event.sequence > after && event.sequence <= through && isSought(event)) found.push(event.sequence);
      }
      return found;
    },
    forget() {
      facts = [];
      indexed = 0;
      loaded = 0;
    },
  };
};
