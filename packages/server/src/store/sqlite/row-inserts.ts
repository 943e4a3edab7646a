/** Inserts rows with fewer calls than there are rows. */
import type { Connection } from './connection.ts';

export type RowValue = number | string;

/** In one call. For most rows, binding values and starting a statement takes as long as the insertion itself (1.9 µs → 1.2 µs). */
const callSizes = [16, 4, 1];

interface Target {
  readonly table: string;
  readonly columns: readonly string[];
  /** What follows the values. */
  readonly onConflict: string;
}

/** Returns what inserts rows in their order, given their values one row after the other. */
export const createRowInsert = (
  db: Connection,
  { table, columns, onConflict }: Target,
): ((values: readonly RowValue[]) => void) => {
  const row = `(${columns.map(() => '?').join(', ')})`;
  const calls = callSizes.map((size) => ({
    most: size * columns.length,
    insert: db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array.from({ length: size }, () => row).join(', ')} ${onConflict}`,
    ),
  }));
  return (values) => {
    let next = 0;
    for (const { most, insert } of calls) {
      for (; values.length - next >= most; next += most) insert.run(values.slice(next, next + most));
    }
  };
};
