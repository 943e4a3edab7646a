/**
 * Who was there in which quarter of an hour, as bytes. Quarters ascend; each is followed by how many bytes its visitors take,
 * and by these, ascending: one for each event, so that one can be taken out when its event is deleted. Every number but
 * the first is told by how much it is more than the one before, in bytes of seven bits, the lowest first: an event takes one
 * byte or two.
 */
import type { Holder } from './recent-repeats.ts';

/** The visitors of each quarter of an hour since 1970, in any order, once for each of their events. */
export type VisitorsByQuarter = ReadonlyMap<number, readonly Holder[]>;

/** A number below 2^53 takes no more. */
const mostBytesOfNumber = 8;

/** Numbers below 0 are the odd ones. */
const toUnsigned = (number: number): number => (number < 0 ? -2 * number - 1 : 2 * number);
const fromUnsigned = (number: number): number => (number % 2 === 1 ? -(number + 1) / 2 : number / 2);

/** Answers where the next one goes. */
const write = (bytes: Buffer, number: number, from: number): number => {
  let at = from;
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128;
  bytes[at++] = rest;
  return at;
};

const createNumberReader = (bytes: Buffer) => {
  let at = 0;
  return {
    isAtEnd: () => at >= bytes.length,
    next(): number {
      let number = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = bytes[at++] as number;
        if (byte < 128) return number + byte * scale;
        number += (byte - 128) * scale;
      }
    },
    take(length: number): Buffer {
      at += length;
      return bytes.subarray(at - length, at);
    },
  };
};

const toVisitors = (visitors: readonly Holder[]): Buffer => {
  const bytes = Buffer.allocUnsafe(visitors.length * mostBytesOfNumber);
  let at = 0;
  let before: number | undefined;
  for (const visitor of Float64Array.from(visitors).sort()) {
    at = write(bytes, before === undefined ? toUnsigned(visitor) : visitor - before, at);
    before = visitor;
  }
  return bytes.subarray(0, at);
};

const visitEach = (visitors: Buffer, visit: (visitor: Holder) => void): void => {
  const numbers = createNumberReader(visitors);
  let visitor = fromUnsigned(numbers.next());
  visit(visitor);
  while (!numbers.isAtEnd()) {
    visitor += numbers.next();
    visit(visitor);
  }
};

interface Quarter {
  readonly quarter: number;
  readonly visitors: Buffer;
}

const fromQuarters = (quarters: readonly Quarter[]): Buffer => {
  let before: number | undefined;
  return Buffer.concat(
    quarters.flatMap(({ quarter, visitors }) => {
      const head = Buffer.allocUnsafe(2 * mostBytesOfNumber);
      const at = write(head, before === undefined ? toUnsigned(quarter) : quarter - before, 0);
      before = quarter;
      return [head.subarray(0, write(head, visitors.length, at)), visitors];
    }),
  );
};

function* quartersOf(bytes: Buffer): Generator<Quarter> {
  const numbers = createNumberReader(bytes);
  for (let quarter: number | undefined; !numbers.isAtEnd(); ) {
    quarter = quarter === undefined ? fromUnsigned(numbers.next()) : quarter + numbers.next();
    yield { quarter, visitors: numbers.take(numbers.next()) };
  }
}

export const toVisitorList = (visitors: VisitorsByQuarter): Buffer =>
  fromQuarters(
    [...visitors].sort(([a], [b]) => a - b).map(([quarter, some]) => ({ quarter, visitors: toVisitors(some) })),
  );

/** Asks for each quarter what is to be done with its visitors, and does it with each; nothing when that is undefined. */
export const readVisitorList = (
  bytes: Buffer,
  ofQuarter: (quarter: number) => ((visitor: Holder) => void) | undefined,
): void => {
  for (const { quarter, visitors } of quartersOf(bytes)) {
    const visit = ofQuarter(quarter);
    if (visit) visitEach(visitors, visit);
  }
};

/** As long as `visitors` at most: a difference that is the sum of two takes no more bytes than both. The first may take more. */
const without = (visitors: Buffer, gone: readonly Holder[]): Buffer => {
  const ascending = Float64Array.from(gone).sort();
  const left = Buffer.allocUnsafe(visitors.length + mostBytesOfNumber);
  let next = 0;
  let at = 0;
  let before: number | undefined;
  visitEach(visitors, (visitor) => {
    while ((ascending[next] as number) < visitor) next += 1;
    if (ascending[next] === visitor) {
      next += 1;
      return;
    }
    at = write(left, before === undefined ? toUnsigned(visitor) : visitor - before, at);
    before = visitor;
  });
  return left.subarray(0, at);
};

/** What is left without these, each taken out as often as it is named. Quarters of which none is named are not looked at. */
export const withoutVisitors = (bytes: Buffer, gone: VisitorsByQuarter): Buffer => {
  const left: Quarter[] = [];
  for (const { quarter, visitors } of quartersOf(bytes)) {
    const goneHere = gone.get(quarter);
    const rest = goneHere ? without(visitors, goneHere) : visitors;
    if (rest.length > 0) left.push({ quarter, visitors: rest });
  }
  return fromQuarters(left);
};
