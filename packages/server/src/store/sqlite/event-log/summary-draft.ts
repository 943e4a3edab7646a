/** The summary of a segment's blocks, collected while they are read. */

import { type BlockTimes, toBytes } from './block-times.ts';
import { type AttributeHasher, createSlices, type Slices } from './bloom-filter.ts';
import { type EventBlock, eventTimeAt, factsAt, sizeOf, visitAttributes } from './event-block.ts';
import { type Holder, toVisitorList } from './visitor-list.ts';
import { addVisitor, holderOf } from './visitors.ts';

/** The visitors of the events of an eventID. */
interface EventIDVisitors {
  readonly account: number;
  readonly eventID: number;
  readonly events: number;
  /** The visitors in the form of visitor-list.ts. */
  list(): Buffer;
}

export interface SummaryDraft {
  /** Reads the next block, with its place. */
  read(block: EventBlock, place: number): void;
  /** The number of distinct attributes of each block, summed over all blocks. */
  readonly attributes: number;
  /** Yields the eventIDs in the order of their keys. Call it once all blocks are read. */
  visitors(): Generator<EventIDVisitors>;
  /** Builds the Bloom filters block by block. Each step yields its cost, in the unit of `costPerStep` (segment-builder.ts). */
  slices(): Generator<number, Slices>;
  blocks(): Buffer;
}

export const createSummaryDraft = (hasher: AttributeHasher): SummaryDraft => {
  const blocks: BlockTimes[] = [];
  /** The hashes of each block. */
  const hashes: Uint32Array[] = [];
  /** By account, then by eventID. */
  const byEventID = new Map<number, Map<number, Map<number, Holder[]>>>();
  let attributes = 0;

  const noteVisitors = (block: EventBlock, place: number) => {
    let firstTime = Infinity;
    let lastTime = -Infinity;
    for (let index = 0; index < sizeOf(block); index += 1) {
      const facts = factsAt(block, index);
      const { account, eventID } = facts;
      const eventTime = eventTimeAt(block, index);
      firstTime = Math.min(firstTime, eventTime);
      lastTime = Math.max(lastTime, eventTime);
      const ofAccount = byEventID.get(account) ?? new Map<number, Map<number, Holder[]>>();
      byEventID.set(account, ofAccount);
      const visitors = ofAccount.get(eventID) ?? new Map<number, Holder[]>();
      ofAccount.set(eventID, visitors);
      addVisitor(visitors, eventTime, holderOf(facts));
    }
    blocks.push({ place, firstTime, lastTime });
  };

  const noteAttributes = (block: EventBlock) => {
    const met = new Set<number>();
    visitAttributes(block, (index, attrID, attrValue) => {
      const { account } = factsAt(block, index);
      met.add(hasher.of(account, { attrID }));
      met.add(hasher.of(account, { attrID, attrValue }));
    });
    hashes.push(Uint32Array.from(met));
    attributes += met.size;
  };

  return {
    read(block, place) {
      noteVisitors(block, place);
      noteAttributes(block);
    },
    get attributes() {
      return attributes;
    },
    *visitors() {
      const ascending = (a: readonly [number, unknown], b: readonly [number, unknown]) => a[0] - b[0];
      for (const [account, ofAccount] of [...byEventID].sort(ascending)) {
        for (const [eventID, visitors] of [...ofAccount].sort(ascending)) {
          let events = 0;
          for (const { length } of visitors.values()) events += length;
          yield { account, eventID, events, list: () => toVisitorList(visitors) };
        }
      }
    },
    *slices() {
      const slices = createSlices(blocks.length, attributes);
      for (const [block, some] of hashes.entries()) {
        slices.add(block, some);
        yield some.length / 2;
      }
      return slices;
    },
    blocks: () => toBytes(blocks),
  };
};
