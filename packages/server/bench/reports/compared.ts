/** What is measured beside our reports: a database with the same events, which is asked in SQL. */
import type { Cell } from './report-forms.ts';

export interface Compared {
  readonly name: string;
  /** Rejects with TooSlow when the query does not end within the time limit or the memory. */
  ask(sql: string): Promise<readonly (readonly Cell[])[]>;
  /** Milliseconds of processor time so far; undefined if that is not known. */
  cpuMilliseconds?(): number;
}

/** The message is what the table shows in place of a time. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

const inOrder = (rows: readonly (readonly Cell[])[]): string[] =>
  rows.map((row) => JSON.stringify(row.map((cell) => (cell === null ? null : String(cell))))).sort();

/** Throws unless both are the same rows, in any order. */
export const insistOnSame = (
  what: string,
  ours: readonly (readonly Cell[])[],
  theirs: readonly (readonly Cell[])[],
): void => {
  const [own, other] = [inOrder(ours), inOrder(theirs)];
  const odd = [...own.keys(), ...other.keys()].find((index) => own[index] !== other[index]);
  if (odd !== undefined) throw new Error(`${what} differ: ours has ${own[odd]}, the other ${other[odd]}`);
};
