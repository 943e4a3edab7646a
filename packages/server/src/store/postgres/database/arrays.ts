/**
 * Encodes columns as PostgreSQL arrays in binary format (array_recv in arrayfuncs.c), which node-postgres sends
 * unchanged. Text format takes several times as long to write and to parse.
 */
const oids = { integer: 23, bigint: 20, bytea: 17, uuid: 2950, text: 25 } as const;
export type ElementType = keyof typeof oids;

const headBytes = 20;
const lengthBytes = 4;
const nullLength = -1;

/** Returns a buffer with the array's header and room for its values. */
const begin = (type: ElementType, count: number, bytes: number): Buffer => {
  const array = Buffer.allocUnsafe(headBytes + count * lengthBytes + bytes);
  const dimensions = 1;
  const mayHoldNulls = 1;
  const lowerBound = 1;
  [dimensions, mayHoldNulls, oids[type], count, lowerBound].forEach((number, nth) => {
    array.writeInt32BE(number, nth * 4);
  });
  return array;
};

/** bigint[]; `toValue` returns the value for an item. */
export const bigints = <Item>(items: readonly Item[], toValue: (item: Item) => number | null): Buffer => {
  const array = begin('bigint', items.length, items.length * 8);
  let at = headBytes;
  for (const item of items) {
    const value = toValue(item);
    if (value === null) {
      at = array.writeInt32BE(nullLength, at);
      continue;
    }
    const high = Math.floor(value / 2 ** 32);
    at = array.writeInt32BE(8, at);
    at = array.writeInt32BE(high, at);
    at = array.writeUInt32BE(value - high * 2 ** 32, at);
  }
  return array.subarray(0, at);
};

/** integer[] */
export const integers = <Item>(items: readonly Item[], toValue: (item: Item) => number): Buffer => {
  const array = begin('integer', items.length, items.length * 4);
  let at = headBytes;
  for (const item of items) {
    at = array.writeInt32BE(4, at);
    at = array.writeInt32BE(toValue(item), at);
  }
  return array;
};

/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const maxBytesPerCharacter = 3;

/** text[] */
export const texts = <Item>(items: readonly Item[], toValue: (item: Item) => string): Buffer => {
  const values = items.map(toValue);
  let characters = 0;
  for (const value of values) characters += value.length;
  const array = begin('text', values.length, characters * maxBytesPerCharacter);
  let at = headBytes;
  for (const value of values) {
    const bytes = array.write(value, at + lengthBytes, 'utf8');
    at = array.writeInt32BE(bytes, at) + bytes;
  }
  return array.subarray(0, at);
};

const uuidBytes = 16;

/** uuid[]; `toValue` returns a UUID's 16 bytes as a latin1 string. */
export const uuids = <Item>(items: readonly Item[], toValue: (item: Item) => string): Buffer => {
  const array = begin('uuid', items.length, items.length * uuidBytes);
  let at = headBytes;
  for (const item of items) {
    at = array.writeInt32BE(uuidBytes, at);
    at += array.write(toValue(item), at, uuidBytes, 'latin1');
  }
  return array;
};

/** Concatenated values, and the end of each. */
interface ConcatenatedBytes {
  bytes(): Buffer;
  readonly ends: readonly number[];
}

/** bytea[] */
export const byteas = ({ bytes, ends }: ConcatenatedBytes): Buffer => {
  const concatenated = bytes();
  const array = begin('bytea', ends.length, concatenated.length);
  let at = headBytes;
  let start = 0;
  for (const end of ends) {
    at = array.writeInt32BE(end - start, at);
    at += concatenated.copy(array, at, start, end);
    start = end;
  }
  return array;
};
