/**
 * SHA-256 (FIPS 180-4) of a stream. Web Crypto needs the whole content in memory, and is absent in pages without HTTPS.
 */
import type { Source } from './read-records.ts';

const [wordsPerBlock, rounds, bytesPerBlock] = [16, 64, 64];

/** The first 32 bits of the fractional part of a root. */
const fractionOf = (root: number): number => ((root % 1) * 2 ** 32) | 0;

const primes: number[] = [];
for (let candidate = 2; primes.length < rounds; candidate += 1)
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
const roundConstants = Int32Array.from(primes, (prime) => fractionOf(Math.cbrt(prime)));
const initialState = primes.slice(0, 8).map((prime) => fractionOf(Math.sqrt(prime)));

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

const toView = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

const createHash = () => {
  const [a, b, c, d, e, f, g, h] = initialState as [number, number, number, number, number, number, number, number];
  const state = { a, b, c, d, e, f, g, h };
  const words = new Int32Array(rounds);
  const block = new Uint8Array(bytesPerBlock);
  const blockView = toView(block);
  let pending = 0;
  let length = 0;

  const addBlock = (view: DataView, from: number): void => {
    for (let at = 0; at < wordsPerBlock; at += 1) {
      words[at] = view.getInt32(from + at * 4);
    }
    for (let at = wordsPerBlock; at < rounds; at += 1) {
      const [early, late] = [words[at - 15] as number, words[at - 2] as number];
      const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
      words[at] = (words[at - 16] as number) + s0 + (words[at - 7] as number) + s1;
    }
    let { a, b, c, d, e, f, g, h } = state;
    for (let at = 0; at < rounds; at += 1) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const choice = (e & f) ^ (~e & g);
      const added = (h + s1 + choice + (roundConstants[at] as number) + (words[at] as number)) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      h = g;
      g = f;
      f = e;
      e = (d + added) | 0;
      d = c;
      c = b;
      b = a;
      a = (added + s0 + majority) | 0;
    }
    state.a = (state.a + a) | 0;
    state.b = (state.b + b) | 0;
    state.c = (state.c + c) | 0;
    state.d = (state.d + d) | 0;
    state.e = (state.e + e) | 0;
    state.f = (state.f + f) | 0;
    state.g = (state.g + g) | 0;
    state.h = (state.h + h) | 0;
  };

  const add = (bytes: Uint8Array): void => {
    length += bytes.length;
    let from = 0;
    if (pending > 0) {
      from = Math.min(bytesPerBlock - pending, bytes.length);
      block.set(bytes.subarray(0, from), pending);
      pending += from;
      if (pending < bytesPerBlock) return;
      addBlock(blockView, 0);
    }
    const view = toView(bytes);
    for (; from + bytesPerBlock <= bytes.length; from += bytesPerBlock) addBlock(view, from);
    block.set(bytes.subarray(from));
    pending = bytes.length - from;
  };

  return {
    add,
    /** Returns 64 hexadecimal digits. Nothing can be added afterwards. */
    end(): string {
      // One bit, zeros up to the end of a block, and the length in bits.
      const padding = new Uint8Array(9 + ((2 * bytesPerBlock - 9 - pending) % bytesPerBlock));
      padding[0] = 0x80;
      new DataView(padding.buffer).setBigUint64(padding.length - 8, BigInt(length) * 8n);
      add(padding);
      return Array.from(Object.values(state), (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
    },
  };
};

/** Returns the SHA-256 of a prefix and the rest of a stream, in hexadecimal digits. */
export const hashStream = async (source: Source, prefix = ''): Promise<string> => {
  const hash = createHash();
  hash.add(new TextEncoder().encode(prefix));
  const reader = source.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return hash.end();
    hash.add(value);
  }
};
