/**
 * Encodes columns as PostgreSQL arrays in binary format (array_recv in arrayfuncs.c); node-postgres sends the buffers unchanged.
 * Text format takes several times as long to write and to parse.
 */
/** In the order of the parameters of read_shards (0037-durable-machines.sql), and of the columns of shard_call. */
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

/** bigint[] of the value that `of` returns for each item. */
export const bigints = <Item>(items: readonly Item[], of: (item: Item) => number | null): Buffer => {
  const array = begin('bigint', items.length, items.length * 8);
  let at = headBytes;
  for (const item of items) {
    const value = of(item);
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
export const integers = <Item>(items: readonly Item[], of: (item: Item) => number): Buffer => {
  const array = begin('integer', items.length, items.length * 4);
  let at = headBytes;
  for (const item of items) {
    at = array.writeInt32BE(4, at);
    at = array.writeInt32BE(of(item), at);
  }
  return array;
};

/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const mostBytesOfCharacter = 3;

/** text[] */
export const texts = <Item>(items: readonly Item[], of: (item: Item) => string): Buffer => {
  const values = items.map(of);
  let characters = 0;
  for (const value of values) characters += value.length;
  const array = begin('text', values.length, characters * mostBytesOfCharacter);
  let at = headBytes;
  for (const value of values) {
    const bytes = array.write(value, at + lengthBytes, 'utf8');
    at = array.writeInt32BE(bytes, at) + bytes;
  }
  return array.subarray(0, at);
};

const uuidBytes = 16;

/** uuid[]; `of` returns a UUID's 16 bytes as a latin1 string. */
export const uuids = <Item>(items: readonly Item[], of: (item: Item) => string): Buffer => {
  const array = begin('uuid', items.length, items.length * uuidBytes);
  let at = headBytes;
  for (const item of items) {
    at = array.writeInt32BE(uuidBytes, at);
    at += array.write(of(item), at, uuidBytes, 'latin1');
  }
  return array;
};

/** Concatenated values, and the end of each. */
interface Lying {
  bytes(): Buffer;
  readonly ends: readonly number[];
}

/** bytea[] */
export const byteas = ({ bytes, ends }: Lying): Buffer => {
  const lying = bytes();
  const array = begin('bytea', ends.length, lying.length);
  let at = headBytes;
  let start = 0;
  for (const end of ends) {
    at = array.writeInt32BE(end - start, at);
    at += lying.copy(array, at, start, end);
    start = end;
  }
  return array;
};

const typeAt = 8;
const countAt = 12;

/** The bytes of the element that begins at a place, with its length. */
const elementBytes = (array: Buffer, at: number): number => lengthBytes + Math.max(0, array.readInt32BE(at));

/** Returns an array of some of an array's elements: those at `places`, which ascend. */
export const pick = (array: Buffer, places: readonly number[]): Buffer => {
  const picked: Buffer[] = [];
  let at = headBytes;
  let place = 0;
  for (const wanted of places) {
    for (; place < wanted; place += 1) at += elementBytes(array, at);
    picked.push(array.subarray(at, at + elementBytes(array, at)));
  }
  const head = Buffer.from(array.subarray(0, headBytes));
  head.writeInt32BE(places.length, countAt);
  return Buffer.concat([head, ...picked]);
};

/** Returns the bytes of an array's elements, or, unless `all` is set, those of the first if all are equal. */
const toElements = (array: Buffer, all: boolean): { elements: Buffer; count: number; isOne: boolean } => {
  const elements = array.subarray(headBytes);
  const count = array.readInt32BE(countAt);
  if (count === 0 || all) return { elements, count, isOne: false };
  const length = elementBytes(elements, 0);
  // Shifted by the first element, they are the same: so the second is equal to the first, and so on.
  const isOne =
    elements.length === count * length &&
    elements.subarray(length).equals(elements.subarray(0, elements.length - length));
  return isOne ? { elements: elements.subarray(0, length), count: 1, isOne } : { elements, count, isOne };
};

/** Where the elements of an array are, and SQL for what each row has of them, in the list of a SELECT. */
export interface InRows {
  /** The number of the parameter, and the places of the first and of the last element in its array, from 1. */
  readonly parameter: number;
  readonly first: number;
  readonly last: number;
  readonly sql: string;
  /** Whether it is a value that all rows have, instead of unnest() which makes the rows. */
  readonly isValue: boolean;
}

const types = Object.keys(oids) as ElementType[];
/** How many parameters `byType` makes. */
export const typeCount = types.length;

/**
 * Concatenates arrays of the same type: $1 holds all integers, $2 all bigints, and so on in the order of `oids`; null for a type without arrays.
 * Equal elements of an array are sent once, unless `all` is set. `inRows` is for each given array.
 */
export const byType = (arrays: readonly Buffer[], all = false): { values: (Buffer | null)[]; inRows: InRows[] } => {
  const parts = types.map(() => ({ count: 0, elements: [] as Buffer[] }));
  const inRows = arrays.map((array) => {
    const nth = types.findIndex((type) => oids[type] === array.readInt32BE(typeAt));
    const part = parts[nth] as (typeof parts)[number];
    const parameter = nth + 1;
    const first = part.count + 1;
    const { elements, count, isOne: isValue } = toElements(array, all);
    part.elements.push(elements);
    part.count += count;
    const last = part.count;
    const sql = isValue ? `$${parameter}[${first}]` : `unnest($${parameter}[${first}:${last}])`;
    return { parameter, first, last, sql, isValue };
  });
  const values = parts.map(({ count, elements }, nth) =>
    elements.length === 0
      ? null
      : Buffer.concat([begin(types[nth] as ElementType, count, 0).subarray(0, headBytes), ...elements]),
  );
  return { values, inRows };
};
