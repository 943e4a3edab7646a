import { expect, test } from 'vitest';
import { createAttributeHash, createSlices, visitSlices } from './bloom-filter.ts';

const hash = createAttributeHash(Buffer.alloc(32, 1));
const hashOf = (value: string, account = 1) => hash(account, 'path', value);

/** Creates filters for blocks that each have this number of distinct values. */
const createFilters = (blocks: number, perBlock: number) => {
  const hashes = Array.from({ length: blocks }, (_, block) =>
    Array.from({ length: perBlock }, (_, nth) => hashOf(`/${block}/${nth}`)),
  );
  const { count, add, slice } = createSlices(blocks, blocks * perBlock);
  for (let block = 0; block < blocks; block += 1) add(block, hashes[block] as number[]);
  const mayHold = (block: number, hash: number) => {
    let isSet = true;
    visitSlices(hash, count, (nth) => {
      isSet &&= (((slice(nth)[block >>> 3] as number) >>> (block & 7)) & 1) === 1;
    });
    return isSet;
  };
  return { count, mayHold };
};

test.each([1, 30, 118, 500])('finds all of %i attributes per block, with few false positives', (perBlock) => {
  const blocks = 100;
  const { count, mayHold } = createFilters(blocks, perBlock);
  expect(count).toBe(Math.max(64, 14 * perBlock));
  let missed = 0;
  let falsePositives = 0;
  for (let block = 0; block < blocks; block += 1) {
    for (let nth = 0; nth < perBlock; nth += 1) if (!mayHold(block, hashOf(`/${block}/${nth}`))) missed += 1;
    for (let nth = 0; nth < 200; nth += 1) if (mayHold(block, hashOf(`/other/${block}/${nth}`))) falsePositives += 1;
  }
  expect(missed).toBe(0);
  // The expected false-positive rate is 0.15%.
  expect(falsePositives / (blocks * 200)).toBeLessThan(0.004);
});

test('computes hashes that depend on the account, attribute, value and database', () => {
  const others = [
    hashOf('/', 2),
    hashOf('/a'),
    hash(1, 'path'),
    hash(1, 'path/'),
    hash(1, 'pat', 'h/'),
    createAttributeHash(Buffer.alloc(32, 2))(1, 'path', '/'),
  ];
  expect(new Set([hashOf('/'), ...others]).size).toBe(1 + others.length);
  expect(hashOf('/')).toBe(hashOf('/'));
});

test('sets no bits for blocks without attributes', () => {
  const { count, slice } = createSlices(2, 0);
  for (let nth = 0; nth < count; nth += 1) expect([...slice(nth)]).toEqual([0]);
});
