/**
 * Encodes columns as PostgreSQL arrays in binary format (array_recv in arrayfuncs.c); node-postgres sends the buffers unchanged.
 * Text format takes several times as long to write and to parse. For the shards of a cluster, `joinAsSQL` makes SQL of them, because PL/pgSQL would do so
 * anyway.
 */
/** In the order of the parameters of read_shards (0041-remembered-states.sql), and of the columns of shard_call. */
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
const types = Object.keys(oids) as ElementType[];

export const typeOf = (array: Buffer): ElementType =>
  types.find((type) => oids[type] === array.readInt32BE(typeAt)) as ElementType;

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

/** Separates texts. `joinAsSQL` never returns it. */
export const separator = '\u001f';
const escapes: Readonly<Record<string, string>> = { '"': '\\\\"', '\\': '\\\\\\\\', "'": "''" };

/** An element as it is written in an array in E'…'. */
const asSQL: Readonly<Record<ElementType, (array: Buffer, from: number, to: number) => string>> = {
  integer: (array, from) => `${array.readInt32BE(from)}`,
  bigint: (array, from) => `${array.readBigInt64BE(from)}`,
  bytea: (array, from, to) => `"\\\\\\\\x${array.toString('hex', from, to)}"`,
  uuid: (array, from, to) => array.toString('hex', from, to),
  text: (array, from, to) => {
    const text = array.toString('utf8', from, to);
    return `"${text.replace(/["\\']/g, (found) => escapes[found] as string).replaceAll(separator, '\\x1F')}"`;
  },
};

/** Returns SQL for one array with the elements of all of these, which have the same type. */
export const joinAsSQL = (arrays: readonly Buffer[]): string => {
  const elements: string[] = [];
  for (const array of arrays) {
    const write = asSQL[typeOf(array)];
    for (let at = headBytes; at < array.length; ) {
      const length = array.readInt32BE(at);
      const from = at + lengthBytes;
      at = from + Math.max(0, length);
      elements.push(length < 0 ? 'NULL' : write(array, from, at));
    }
  }
  return `E'{${elements}}'`;
};

/** Returns the bytes of an array's elements, or those of the first if all are equal. */
const toElements = (array: Buffer): { elements: Buffer; count: number; isOne: boolean } => {
  const elements = array.subarray(headBytes);
  const count = array.readInt32BE(countAt);
  if (count === 0) return { elements, count, isOne: false };
  const length = elementBytes(elements, 0);
  // Shifted by the first element, they are the same: so the second is equal to the first, and so on.
  const isOne =
    elements.length === count * length &&
    elements.subarray(length).equals(elements.subarray(0, elements.length - length));
  return isOne ? { elements: elements.subarray(0, length), count: 1, isOne } : { elements, count, isOne };
};

/** SQL for what each row has of the elements of an array, in the list of a SELECT. */
interface InRows {
  readonly sql: string;
  /** Whether it is a value that all rows have, instead of unnest() which makes the rows. */
  readonly isValue: boolean;
}

/**
 * Concatenates arrays of the same type: $1 holds all integers, $2 all bigints, and so on in the order of `oids`; null for a type without arrays.
 * Equal elements of an array are sent once. `inRows` is for each given array.
 */
export const byType = (arrays: readonly Buffer[]): { values: (Buffer | null)[]; inRows: InRows[] } => {
  const parts = types.map(() => ({ count: 0, elements: [] as Buffer[] }));
  const inRows = arrays.map((array) => {
    const nth = types.indexOf(typeOf(array));
    const part = parts[nth] as (typeof parts)[number];
    const parameter = nth + 1;
    const first = part.count + 1;
    const { elements, count, isOne: isValue } = toElements(array);
    part.elements.push(elements);
    part.count += count;
    const sql = isValue ? `$${parameter}[${first}]` : `unnest($${parameter}[${first}:${part.count}])`;
    return { sql, isValue };
  });
  const values = parts.map(({ count, elements }, nth) =>
    elements.length === 0
      ? null
      : Buffer.concat([begin(types[nth] as ElementType, count, 0).subarray(0, headBytes), ...elements]),
  );
  return { values, inRows };
};
