/**
 * Chooses the entries to evict from a token's full list of refused requests: those of the sender with the most entries.
 */
import { limits } from '@firsthand/contract/limits';
import type { RefusedCount } from '../../store.ts';

/** A number of entries and their size. */
export interface Amount {
  readonly listed: number;
  readonly bytes: number;
}

/** One sender's entries on a token's list. */
export interface SenderShare extends Amount {
  readonly sender: number;
}

/** Returns by how much a token's list exceeds its limits; undefined if it does not. */
export const getSurplus = (count: Pick<RefusedCount, 'listed' | 'listedBytes'>): Amount | undefined => {
  const listed = count.listed - limits.refusedPerToken;
  const bytes = count.listedBytes - limits.refusedBytesPerToken;
  return listed > 0 || bytes > 0 ? { listed, bytes } : undefined;
};

/** Returns the sender with the largest share; among equals, the first in `shares`. */
const findLargest = (shares: readonly SenderShare[], by: 'listed' | 'bytes'): SenderShare | undefined => {
  let largest: SenderShare | undefined;
  for (const share of shares)
    if (share.listed > 0 && (largest === undefined || share[by] > largest[by])) largest = share;
  return largest;
};

/**
 * Returns the entries to evict. While there are too many entries, evicts the oldest entry of the sender with the most
 * entries; while there are too many bytes, that of the sender with the most bytes. So no sender can evict the entries
 * of a sender who has less.
 *
 * `shares` are sorted by their oldest entries. Each call of `nextOldest` returns a sender's next entry, oldest first.
 */
export const chooseEvicted = <Entry extends { readonly bytes: number }>(
  shares: readonly SenderShare[],
  surplus: Amount,
  nextOldest: (sender: number) => Entry | undefined,
): Entry[] => {
  const left = shares.map((share) => ({ ...share }));
  const evicted: Entry[] = [];
  let { listed, bytes } = surplus;
  while (listed > 0 || bytes > 0) {
    const share = findLargest(left, listed > 0 ? 'listed' : 'bytes') as (typeof left)[number] | undefined;
    if (share === undefined) break;
    const entry = nextOldest(share.sender);
    if (entry === undefined) {
      share.listed = 0;
      continue;
    }
    evicted.push(entry);
    share.listed -= 1;
    share.bytes -= entry.bytes;
    listed -= 1;
    bytes -= entry.bytes;
  }
  return evicted;
};
