/**
 * Bloom filters for the attributes in each block of a segment. They are bit-sliced: each row contains one bit position
 * of all blocks, so that a query reads seven short rows instead of a filter per block.
 */
import { createHmac } from 'node:crypto';

/**
 * The bits per distinct attribute of a block, and how many bits an attribute sets. The false positive rate of a block
 * with an average number of attributes is (1 - e^(-7/14))^7 = 0.15%; with twice as many attributes, 4%.
 */
const bitsPerAttribute = 14;
const bitsSet = 7;

/** Segments with few distinct attributes get more bits per attribute, because fewer slices would hardly save space. */
const minSlices = 64;

/** FNV-1a with the finalizer of MurmurHash3, so that the low bits are also well distributed. */
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

/** Returns a 32-bit hash of an account's attribute: with `attrValue` if it is given, otherwise with any value. */
export type AttributeHash = (account: number, attrID: string, attrValue?: string) => number;

/** `secret` is the database's secret, without which nobody can find out which value a hash stands for. */
export const createAttributeHash = (secret: Buffer): AttributeHash => {
  // Never change the word 'signature': the stored filters depend on it.
  const seed = createHmac('sha256', secret).update('signature').digest().readInt32LE();
  return (account, attrID, attrValue) => {
    const state = add(mix(seed ^ account), attrID);
    return mix(attrValue === undefined ? state : add(Math.imul(state ^ separator, prime), attrValue));
  };
};

/** Calls `visit` with each slice in which a hash sets a bit. */
export const visitSlices = (hash: number, slices: number, visit: (slice: number) => void): void => {
  const step = mix(hash ^ separator);
  for (let nth = 0; nth < bitsSet; nth += 1) visit(((hash + nth * step) >>> 0) % slices);
};

/** `hashes` is the number of distinct hashes per block, summed over all blocks. */
export const createSlices = (blocks: number, hashes: number) => {
  const count = Math.max(minSlices, Math.ceil((bitsPerAttribute * hashes) / Math.max(1, blocks)));
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
    /** Returns a slice: one bit per block. The first block has the lowest bit of the first byte. */
    slice: (nth: number): Buffer => bits.subarray(nth * bytes, (nth + 1) * bytes),
  };
};
export type Slices = ReturnType<typeof createSlices>;
