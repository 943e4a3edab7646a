/**
 * Which blocks of a segment may hold an event with an attribute: a Bloom filter for each block, kept bit by bit for all of them
 * together (bit-sliced), so that a query reads seven short rows and not a filter for each block.
 */
import { createHmac } from 'node:crypto';

/** What is sought; any value when there is none. */
export interface Attribute {
  readonly attrID: string;
  readonly attrValue?: string | undefined;
}

/**
 * Bits for each different attribute of a block, and how many of them are set for one. A block that has as many as the others of
 * its segment is then looked at in vain in (1 - e^(-7/14))^7 = 0.15 % of all cases; one with twice as many, in 4 %.
 */
const bitsPerAttribute = 14;
const bitsSet = 7;

/** Whoever has few different ones has more bits for each: less than this takes hardly less room. */
const fewestSlices = 64;

/** FNV-1a, and what makes of its low bits as good ones as the high ones are (the end of MurmurHash3). */
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

/** Between an attrID and its value: no character is so large. */
const separator = 0x10000;

export interface AttributeHasher {
  /** 32 bits for an account's attribute with any value, or with this one. */
  of(account: number, attribute: Attribute): number;
}

/** `secret` is the database's: without it, nobody can tell which value a hash is of. */
export const createAttributeHasher = (secret: Buffer): AttributeHasher => {
  const seed = createHmac('sha256', secret).update('signature').digest().readInt32LE();
  return {
    of(account, { attrID, attrValue }) {
      const named = add(mix(seed ^ account), attrID);
      return mix(attrValue === undefined ? named : add(Math.imul(named ^ separator, prime), attrValue));
    },
  };
};

/** Calls `visit` with the slices that a hash sets a bit in. */
export const visitSlices = (hash: number, slices: number, visit: (slice: number) => void): void => {
  const step = mix(hash ^ separator);
  for (let nth = 0; nth < bitsSet; nth += 1) visit(((hash + nth * step) >>> 0) % slices);
};

export interface Slices {
  readonly count: number;
  /** Sets the bits of a block's hashes. */
  add(block: number, hashes: Iterable<number>): void;
  /** The bits of all blocks in a slice: the first block's is the lowest bit of the first byte. */
  slice(nth: number): Buffer;
}

/** For so many blocks, that have so many different hashes, each counted once for each block. */
export const createSlices = (blocks: number, hashes: number): Slices => {
  const count = Math.max(fewestSlices, Math.ceil((bitsPerAttribute * hashes) / Math.max(1, blocks)));
  const bytes = Math.ceil(blocks / 8);
  const bits = Buffer.alloc(count * bytes);
  return {
    count,
    add(block, hashes) {
      const at = block >>> 3;
      const bit = 1 << (block & 7);
      const set = (slice: number) => {
        bits[slice * bytes + at] = (bits[slice * bytes + at] as number) | bit;
      };
      for (const hash of hashes) visitSlices(hash, count, set);
    },
    slice: (nth) => bits.subarray(nth * bytes, (nth + 1) * bytes),
  };
};
