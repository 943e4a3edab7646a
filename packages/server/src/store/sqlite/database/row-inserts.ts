/** Creates functions that insert several rows per statement. */
import type { Connection } from './connection.ts';

export type RowValue = number | string;

/**
 * The numbers of rows per statement. Starting a statement takes as long as inserting a small row, so batches take 1.2
 * µs per row instead of 1.9 µs.
 */
const callSizes = [16, 4, 1];

interface Target {
  readonly table: string;
  readonly columns: readonly string[];
  /** The SQL after the values. */
  readonly onConflict: string;
}

/** Returns a function that inserts rows in order. It takes the values of all rows as one flat list. */
export const createRowInsert = (
  db: Connection,
  { table, columns, onConflict }: Target,
): ((values: readonly RowValue[]) => void) => {
  const row = `(${columns.map(() => '?').join(', ')})`;
  const calls = callSizes.map((size) => ({
    valueCount: size * columns.length,
    insert: db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array.from({ length: size }, () => row).join(', ')} ${onConflict}`,
    ),
  }));
  return (values) => {
    let next = 0;
    for (const { valueCount, insert } of calls) {
      for (; values.length - next >= valueCount; next += valueCount) insert.run(values.slice(next, next + valueCount));
    }
  };
};
