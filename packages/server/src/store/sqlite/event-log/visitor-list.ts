/**
 * The visitors of each quarter of an hour, as bytes. Quarters ascend; each is followed by the byte length of its visitors and by
 * the visitors, ascending: one for each event, so that an event can be removed when it is deleted. Quarters and visitors are stored
 * as the difference from the one before, except the first. A number is written in groups of seven bits, the lowest first. An event
 * takes one or two bytes.
 */

/** Minus the contact, for an event without a user; else the user. */
export type Holder = number;

/** The visitors of each quarter of an hour since 1970, in any order, once for each of their events. */
type VisitorsByQuarter = ReadonlyMap<number, readonly Holder[]>;

/** The most bytes of a number below 2^53. */
const maxBytesPerNumber = 8;

/** Maps negative numbers to the odd ones. */
const toUnsigned = (number: number): number => (number < 0 ? -2 * number - 1 : 2 * number);
const fromUnsigned = (number: number): number => (number % 2 === 1 ? -(number + 1) / 2 : number / 2);

const createNumberWriter = (bytes: Buffer) => {
  let at = 0;
  let before: number | undefined;
  const write = (number: number): void => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128;
    bytes[at++] = rest;
  };
  return {
    write,
    /** Writes how far an ascending number is after the one before. */
    writeNext(number: number): void {
      write(before === undefined ? toUnsigned(number) : number - before);
      before = number;
    },
    append(others: Buffer): void {
      at += others.copy(bytes, at);
    },
    written: (): Buffer => bytes.subarray(0, at),
  };
};

const createNumberReader = (bytes: Buffer) => {
  let at = 0;
  let before: number | undefined;
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
      before = before === undefined ? fromUnsigned(read()) : before + read();
      return before;
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

interface Quarter {
  readonly quarter: number;
  readonly visitors: Buffer;
}

const fromQuarters = (quarters: readonly Quarter[]): Buffer => {
  const most = quarters.reduce((bytes, { visitors }) => bytes + 2 * maxBytesPerNumber + visitors.length, 0);
  const numbers = createNumberWriter(Buffer.allocUnsafe(most));
  for (const { quarter, visitors } of quarters) {
    numbers.writeNext(quarter);
    numbers.write(visitors.length);
    numbers.append(visitors);
  }
  return numbers.written();
};

function* quartersOf(bytes: Buffer): Generator<Quarter> {
  const numbers = createNumberReader(bytes);
  while (!numbers.isAtEnd()) yield { quarter: numbers.readNext(), visitors: numbers.take(numbers.read()) };
}

export const toVisitorList = (visitors: VisitorsByQuarter): Buffer =>
  fromQuarters(
    [...visitors].sort(([a], [b]) => a - b).map(([quarter, some]) => ({ quarter, visitors: toVisitors(some) })),
  );

/**
 * Calls `ofQuarter` for each quarter, and the function that it returns for each visitor. Visitors are skipped when it returns
 * undefined.
 */
export const readVisitorList = (
  bytes: Buffer,
  ofQuarter: (quarter: number) => ((visitor: Holder) => void) | undefined,
): void => {
  for (const { quarter, visitors } of quartersOf(bytes)) {
    const visit = ofQuarter(quarter);
    if (visit) visitEach(visitors, visit);
  }
};

/**
 * Removes visitors. The result is no longer than `visitors`, except that its first number may take more bytes: a difference that is
 * the sum of two takes no more bytes than both.
 */
const without = (visitors: Buffer, gone: readonly Holder[]): Buffer => {
  const ascending = Float64Array.from(gone).sort();
  const left = createNumberWriter(Buffer.allocUnsafe(visitors.length + maxBytesPerNumber));
  let next = 0;
  visitEach(visitors, (visitor) => {
    while ((ascending[next] as number) < visitor) next += 1;
    if (ascending[next] === visitor) next += 1;
    else left.writeNext(visitor);
  });
  return left.written();
};

/** Removes each visitor as often as it is given in `gone`. Quarters that `gone` doesn't name are copied as they are. */
export const withoutVisitors = (bytes: Buffer, gone: VisitorsByQuarter): Buffer => {
  const left: Quarter[] = [];
  for (const { quarter, visitors } of quartersOf(bytes)) {
    const goneHere = gone.get(quarter);
    const rest = goneHere ? without(visitors, goneHere) : visitors;
    if (rest.length > 0) left.push({ quarter, visitors: rest });
  }
  return fromQuarters(left);
};
