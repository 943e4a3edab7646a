/** Builds a segment's summary while its blocks are read. */
import { type BlockTimes, toBytes } from './block-times.ts';
import { type AttributeHash, createSlices, type Slices } from './bloom-filter.ts';
import { type EventBlock, eventTimeAt, factsAt, sizeOf, visitAttributes } from './event-block.ts';
import { type Holder, toVisitorList } from './visitor-list.ts';
import { addVisitor, holderOf } from './visitors.ts';

export const createSummaryDraft = (hashOf: AttributeHash) => {
  const blocks: BlockTimes[] = [];
  /** Each block's hashes. */
  const hashes: Uint32Array[] = [];
  /** Visitors by account, eventID and quarter hour. */
  const visitors = new Map<number, Map<number, Map<number, Holder[]>>>();
  let attributes = 0;

  return {
    /** Adds the next block, with its offset. */
    read(block: EventBlock, offset: number): void {
      let firstTime = Infinity;
      let lastTime = -Infinity;
      const blockHashes = new Set<number>();
      for (let index = 0; index < sizeOf(block); index += 1) {
        const facts = factsAt(block, index);
        const { account, eventID } = facts;
        const eventTime = eventTimeAt(block, index);
        firstTime = Math.min(firstTime, eventTime);
        lastTime = Math.max(lastTime, eventTime);
        const ofAccount = visitors.get(account) ?? new Map<number, Map<number, Holder[]>>();
        visitors.set(account, ofAccount);
        const ofEventID = ofAccount.get(eventID) ?? new Map<number, Holder[]>();
        ofAccount.set(eventID, ofEventID);
        addVisitor(ofEventID, eventTime, holderOf(facts));
      }
      visitAttributes(block, (index, attrID, attrValue) => {
        const { account } = factsAt(block, index);
        blockHashes.add(hashOf(account, attrID));
        blockHashes.add(hashOf(account, attrID, attrValue));
      });
      blocks.push({ offset, firstTime, lastTime });
      hashes.push(Uint32Array.from(blockHashes));
      attributes += blockHashes.size;
    },
    /** The number of distinct attributes per block, summed over all blocks. */
    attributes: (): number => attributes,
    /** Yields the eventIDs in key order, with their number of events and a function that builds the visitor list. */
    *visitors() {
      const ascending = (a: readonly [number, unknown], b: readonly [number, unknown]) => a[0] - b[0];
      for (const [account, ofAccount] of [...visitors].sort(ascending)) {
        for (const [eventID, ofEventID] of [...ofAccount].sort(ascending)) {
          let events = 0;
          for (const { length } of ofEventID.values()) events += length;
          yield { account, eventID, events, list: () => toVisitorList(ofEventID) };
        }
      }
    },
    /**
     * Builds the Bloom filters block by block. Yields the cost of each, in the unit of `costPerStep`
     * (segment-builder.ts).
     */
    *slices(): Generator<number, Slices> {
      const slices = createSlices(blocks.length, attributes);
      for (const [block, some] of hashes.entries()) {
        slices.add(block, some);
        yield some.length / 2;
      }
      return slices;
    },
    blocks: (): Buffer => toBytes(blocks),
  };
};
export type SummaryDraft = ReturnType<typeof createSummaryDraft>;
