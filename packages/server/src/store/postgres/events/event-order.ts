/**
 * Indexes order events by groups of sequences: rows of a holder or account in one group have equal keys, which an index
 * deduplicates. An event takes 6 to 18 bytes per index, instead of 30 to 40 with the sequence as key. A page reads the
 * groups in order and sorts one at a time (Incremental Sort, PostgreSQL 13).
 */

/** A group's size as a power of two. To read one event, PostgreSQL reads at most one group. */
const bits = { holder: 10, account: 8 } as const;

/** The first column of an index. */
type OrderedBy = keyof typeof bits;

/** Returns SQL for the group of a sequence, as in the index. `sequence` is an SQL expression. */
export const sequenceGroup = (by: OrderedBy, sequence = 'sequence'): string => `(${sequence} >> ${bits[by]})`;

export const isSameGroup = (by: OrderedBy, one: number, other: number): boolean =>
  Math.floor(one / 2 ** bits[by]) === Math.floor(other / 2 ** bits[by]);

/** Returns SQL for after < sequence <= through. Both parameters are SQL expressions of type bigint. */
export const within = (by: OrderedBy, after: string, through: string): string =>
  `sequence > ${after} AND sequence <= ${through}
   AND ${sequenceGroup(by)} >= ${sequenceGroup(by, after)} AND ${sequenceGroup(by)} <= ${sequenceGroup(by, through)}`;

/** Returns SQL for ORDER BY in index order. */
export const inGroups = (by: OrderedBy, order: 'ASC' | 'DESC' = 'ASC'): string =>
  `${sequenceGroup(by)} ${order}, sequence ${order}`;

/**
 * Settings of a transaction that reads events in index order (`setLocally`):
 *
 * - Without sorts and bitmap scans, PostgreSQL reads along the index even for a holder that it expects to have few
 *   events. Other transactions need sorts, for few rows found by another index.
 * - These transactions must not `ORDER BY` rows of other tables found by several keys: PostgreSQL up to 16 would walk
 *   the whole index instead of sorting (116 ms to find one of 300,000 contacts).
 * - PostgreSQL up to 17 assigns a huge cost to plans with a disabled step, which would trigger JIT compilation.
 * - It overestimates a page's events; starting parallel workers would take several times as long as reading the page.
 */
export const orderedEventSettings = [
  'SET LOCAL enable_bitmapscan = off',
  'SET LOCAL enable_sort = off',
  'SET LOCAL jit = off',
  'SET LOCAL max_parallel_workers_per_gather = 0',
];
