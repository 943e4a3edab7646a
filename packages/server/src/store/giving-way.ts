/** Which entries leave a token's list of refused requests when it is full: those of the sender who has most on it. */

/** What one sender has on a token's list. */
export interface SenderShare {
  readonly sender: number;
  readonly listed: number;
  readonly bytes: number;
}

export interface Surplus {
  readonly listed: number;
  readonly bytes: number;
}

/** The sender with most; among equals the one named first. */
const largest = (shares: readonly SenderShare[], by: 'listed' | 'bytes'): SenderShare | undefined => {
  let found: SenderShare | undefined;
  for (const share of shares) if (share.listed > 0 && (found === undefined || share[by] > found[by])) found = share;
  return found;
};

/**
 * The entries to evict until the surplus is gone. While there are too many entries, the sender with most of them loses his
 * oldest; while there are too many bytes, the sender with most bytes. So nobody evicts the entries of a sender who has less.
 * `shares` stand in the order of their oldest entries; `nextOldest` returns a sender's entries one after the other.
 */
export const chooseEvicted = <Entry extends { readonly bytes: number }>(
  shares: readonly SenderShare[],
  surplus: Surplus,
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
