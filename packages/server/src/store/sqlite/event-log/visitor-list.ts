/**
 * Encodes the visitors of each quarter hour. The list has, for each quarter hour in ascending order, its number, the
 * byte length of its visitors, and the visitors in ascending order. A visitor is listed once per event, so that a
 * deleted event can be removed.
 *
 * Quarter hours and visitors are delta-encoded as LEB128 (groups of seven bits, lowest first). An event takes one or
 * two bytes.
 */

/** The user of an event; for an event without a user, the negated contact. */
export type Holder = number;

/** The visitors of each quarter hour since 1970, in any order, once per event. */
type VisitorsByQuarterHour = ReadonlyMap<number, readonly Holder[]>;

/** The maximum number of bytes for a number below 2^53. */
const maxBytesPerNumber = 8;

/** Zigzag encoding: maps negative numbers to odd ones. */
const toUnsigned = (number: number): number => (number < 0 ? -2 * number - 1 : 2 * number);
const fromUnsigned = (number: number): number => (number % 2 === 1 ? -(number + 1) / 2 : number / 2);

const createNumberWriter = (bytes: Buffer) => {
  let at = 0;
  let previous: number | undefined;
  const write = (number: number): void => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128;
    bytes[at++] = rest;
  };
  return {
    write,
    /** Writes an ascending number as the difference from the previous one. */
    writeNext(number: number): void {
      write(previous === undefined ? toUnsigned(number) : number - previous);
      previous = number;
    },
    append(others: Buffer): void {
      at += others.copy(bytes, at);
    },
    written: (): Buffer => bytes.subarray(0, at),
  };
};

const createNumberReader = (bytes: Buffer) => {
  let at = 0;
  let previous: number | undefined;
  const read = (): number => {
    let number = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] as number;
      if (byte < 128) return number + byte * scale;
      number += (byte - 128) * scale;
    }
  };
  return {
    isAtEnd: (): boolean => at >= bytes.length,
    read,
    readNext(): number {
      previous = previous === undefined ? fromUnsigned(read()) : previous + read();
      return previous;
    },
    take(length: number): Buffer {
      at += length;
      return bytes.subarray(at - length, at);
    },
  };
};

const toVisitors = (visitors: readonly Holder[]): Buffer => {
  const numbers = createNumberWriter(Buffer.allocUnsafe(visitors.length * maxBytesPerNumber));
  for (const visitor of Float64Array.from(visitors).sort()) numbers.writeNext(visitor);
  return numbers.written();
};

const visitEach = (visitors: Buffer, visit: (visitor: Holder) => void): void => {
  const numbers = createNumberReader(visitors);
  while (!numbers.isAtEnd()) visit(numbers.readNext());
};

interface QuarterHour {
  readonly quarter: number;
  readonly visitors: Buffer;
}

const fromQuarterHours = (quarters: readonly QuarterHour[]): Buffer => {
  const maxBytes = quarters.reduce((bytes, { visitors }) => bytes + 2 * maxBytesPerNumber + visitors.length, 0);
  const numbers = createNumberWriter(Buffer.allocUnsafe(maxBytes));
  for (const { quarter, visitors } of quarters) {
    numbers.writeNext(quarter);
    numbers.write(visitors.length);
    numbers.append(visitors);
  }
  return numbers.written();
};

function* quarterHoursOf(bytes: Buffer): Generator<QuarterHour> {
  const numbers = createNumberReader(bytes);
  while (!numbers.isAtEnd()) yield { quarter: numbers.readNext(), visitors: numbers.take(numbers.read()) };
}

export const toVisitorList = (visitors: VisitorsByQuarterHour): Buffer =>
  fromQuarterHours(
    [...visitors].sort(([a], [b]) => a - b).map(([quarter, some]) => ({ quarter, visitors: toVisitors(some) })),
  );

/**
 * Calls `ofQuarterHour` for each quarter hour, and the function that it returns for each visitor. Skips the visitors if
 * it returns undefined.
 */
export const readVisitorList = (
  bytes: Buffer,
  ofQuarterHour: (quarter: number) => ((visitor: Holder) => void) | undefined,
): void => {
  for (const { quarter, visitors } of quarterHoursOf(bytes)) {
    const visit = ofQuarterHour(quarter);
    if (visit) visitEach(visitors, visit);
  }
};

/**
 * Removes visitors. The result is not longer than `visitors`, except for its first number, because the sum of two
 * differences takes no more bytes than both differences together.
 */
const without = (visitors: Buffer, removed: readonly Holder[]): Buffer => {
  const ascending = Float64Array.from(removed).sort();
  const left = createNumberWriter(Buffer.allocUnsafe(visitors.length + maxBytesPerNumber));
  let next = 0;
  visitEach(visitors, (visitor) => {
    while ((ascending[next] as number) < visitor) next += 1;
    if (ascending[next] === visitor) next += 1;
    else left.writeNext(visitor);
  });
  return left.written();
};

/** Removes each visitor as often as it occurs in `removed`. Copies quarter hours that are not in `removed`. */
export const withoutVisitors = (bytes: Buffer, removed: VisitorsByQuarterHour): Buffer => {
  const left: QuarterHour[] = [];
  for (const { quarter, visitors } of quarterHoursOf(bytes)) {
    const removedHere = removed.get(quarter);
    const rest = removedHere ? without(visitors, removedHere) : visitors;
    if (rest.length > 0) left.push({ quarter, visitors: rest });
  }
  return fromQuarterHours(left);
};
