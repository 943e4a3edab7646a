/** A database with the same events, queried in SQL, as a reference for our reports. */
import type { Cell } from './report-forms.ts';

export interface ReferenceDatabase {
  readonly name: string;
  /** Rejects with TooSlow if the query exceeds the time limit or the memory. */
  query(sql: string): Promise<readonly (readonly Cell[])[]>;
  /** Milliseconds of CPU time so far; undefined if unknown. */
  cpuMilliseconds?(): number;
}

/** The table shows the message instead of a time. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

const sortRows = (rows: readonly (readonly Cell[])[]): string[] =>
  rows.map((row) => JSON.stringify(row.map((cell) => (cell === null ? null : String(cell))))).sort();

/** Throws unless both have the same rows, in any order. */
export const requireSameRows = (
  title: string,
  ours: readonly (readonly Cell[])[],
  theirs: readonly (readonly Cell[])[],
): void => {
  const [actual, expected] = [sortRows(ours), sortRows(theirs)];
  const index = [...actual.keys(), ...expected.keys()].find((each) => actual[each] !== expected[each]);
  if (index !== undefined) throw new Error(`${title} differ: ours has ${actual[index]}, the other ${expected[index]}`);
};
