/** Chooses the entries to evict from a token's full list of refused requests: those of the sender with the most on it. */
import { limits } from '@firsthand/contract/limits';
import type { RefusedCount } from '../../store.ts';

/** A number of entries, and their bytes. */
export interface Amount {
  readonly listed: number;
  readonly bytes: number;
}

/** One sender's entries on a token's list. */
export interface SenderShare extends Amount {
  readonly sender: number;
}

/** Returns by how much a token's list exceeds its limits; undefined when it does not. */
export const surplusOf = (count: Pick<RefusedCount, 'listed' | 'listedBytes'>): Amount | undefined => {
  const listed = count.listed - limits.refusedPerToken;
  const bytes = count.listedBytes - limits.refusedBytesPerToken;
  return listed > 0 || bytes > 0 ? { listed, bytes } : undefined;
};

/** Returns the sender with the most; among equals, the first in `shares`. */
const largest = (shares: readonly SenderShare[], by: 'listed' | 'bytes'): SenderShare | undefined => {
  let found: SenderShare | undefined;
  for (const share of shares) if (share.listed > 0 && (found === undefined || share[by] > found[by])) found = share;
  return found;
};

/**
 * Returns the entries to evict until the surplus is gone. While there are too many entries, the sender with the most entries
 * loses the oldest one; while there are too many bytes, the sender with the most bytes does. So no sender evicts the entries of
 * one who has less. `shares` are sorted by their oldest entries; `nextOldest` returns a sender's entries, oldest first.
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
    const share = largest(left, listed > 0 ? 'listed' : 'bytes') as (typeof left)[number] | undefined;
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
