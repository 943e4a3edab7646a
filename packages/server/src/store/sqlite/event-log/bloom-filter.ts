/**
 * Bloom filters of the attributes in each block of a segment. They are stored bit-sliced: a row holds the same bit of all blocks,
 * so that a query reads seven short rows instead of a filter for each block.
 */
import { createHmac } from 'node:crypto';

/**
 * The bits for each distinct attribute of a block, and how many of them an attribute sets. A block with as many attributes as the
 * average of its segment is a false positive in (1 - e^(-7/14))^7 = 0.15 % of all cases; one with twice as many, in 4 %.
 */
const bitsPerAttribute = 14;
const bitsSet = 7;

/** Segments with few distinct attributes get more bits for each: fewer slices would save hardly any space. */
const fewestSlices = 64;

/** FNV-1a, then the finalizer of MurmurHash3, which makes the low bits as good as the high ones. */
const prime = 0x01000193;
const add = (state: number, text: string): number => {
  let hash = state;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return hash;
};
const mix = (state: number): number => {
  let hash = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Separates an attrID from its value: larger than any UTF-16 code unit. */
const separator = 0x10000;

/** Returns a 32-bit hash of an account's attribute, with this value or with any. */
export type AttributeHash = (account: number, attrID: string, attrValue?: string) => number;

/** `secret` is that of the database: without it, nobody can find out which value a hash stands for. */
export const createAttributeHash = (secret: Buffer): AttributeHash => {
  // With another word, the filters that are stored would miss events.
  const seed = createHmac('sha256', secret).update('signature').digest().readInt32LE();
  return (account, attrID, attrValue) => {
    const named = add(mix(seed ^ account), attrID);
    return mix(attrValue === undefined ? named : add(Math.imul(named ^ separator, prime), attrValue));
  };
};

/** Calls `visit` with each slice in which a hash sets a bit. */
export const visitSlices = (hash: number, slices: number, visit: (slice: number) => void): void => {
  const step = mix(hash ^ separator);
  for (let nth = 0; nth < bitsSet; nth += 1) visit(((hash + nth * step) >>> 0) % slices);
};

/** `hashes` is the number of distinct hashes of each block, summed over all blocks. */
export const createSlices = (blocks: number, hashes: number) => {
  const count = Math.max(fewestSlices, Math.ceil((bitsPerAttribute * hashes) / Math.max(1, blocks)));
  const bytes = Math.ceil(blocks / 8);
  const bits = Buffer.alloc(count * bytes);
  return {
    count,
    /** Sets the bits of a block's hashes. */
    add(block: number, hashes: Iterable<number>): void {
      const at = block >>> 3;
      const bit = 1 << (block & 7);
      const set = (slice: number) => {
        bits[slice * bytes + at] = (bits[slice * bytes + at] as number) | bit;
      };
      for (const hash of hashes) visitSlices(hash, count, set);
    },
    /** The bits of all blocks in a slice; the lowest bit of the first byte is the first block's. */
    slice: (nth: number): Buffer => bits.subarray(nth * bytes, (nth + 1) * bytes),
  };
};
export type Slices = ReturnType<typeof createSlices>;
