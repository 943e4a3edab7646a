/**
 * The order of events in the indexes: by groups of sequences. Rows of one holder or account with sequences in the same group have
 * equal keys; an index stores equal keys once, and 6 bytes for each row. An event takes 6 to 18 bytes in an index; with the
 * sequence itself as key it takes 30 to 40. A page reads the groups in order and sorts one at a time (Incremental Sort, in
 * PostgreSQL since 13).
 */

/**
 * The size of a group: 2^10 sequences for the rows of a holder, 2^8 for those of an account. To read one event, PostgreSQL reads
 * at most this many.
 */
const bits = { holder: 10, account: 8 } as const;

/** The column that an index begins with. */
type OrderedBy = keyof typeof bits;

/** Returns SQL for the group of a sequence, as the index has it. `sequence` is SQL too. */
export const sequenceGroup = (by: OrderedBy, sequence = 'sequence'): string => `(${sequence} >> ${bits[by]})`;

export const isSameGroup = (by: OrderedBy, one: number, other: number): boolean =>
  Math.floor(one / 2 ** bits[by]) === Math.floor(other / 2 ** bits[by]);

/** Returns SQL for after < sequence <= through. Both parameters are SQL of type bigint, with casts where needed. */
export const within = (by: OrderedBy, after: string, through: string): string =>
  `sequence > ${after} AND sequence <= ${through}
   AND ${sequenceGroup(by)} >= ${sequenceGroup(by, after)} AND ${sequenceGroup(by)} <= ${sequenceGroup(by, through)}`;

/** Returns SQL for ORDER BY in the order of the index. */
export const inGroups = (by: OrderedBy, order: 'ASC' | 'DESC' = 'ASC'): string =>
  `${sequenceGroup(by)} ${order}, sequence ${order}`;

/**
 * Statements at the beginning of a transaction that reads events in order (`setLocally`). PostgreSQL expects as few events of a holder with very many as
 * of any other, and would sort them all rather than read along the index. Other transactions must not use these settings: they
 * find few rows by another index and sort them. Queries of these transactions must not have `ORDER BY` with rows of other tables that they find by
 * several keys: rather than sort, PostgreSQL up to 16 walks along the whole index (116 ms to find one of 300,000 contacts). PostgreSQL up to 17 adds a
 * great cost to a plan that needs a disabled step, and such a cost would start JIT compilation. It also expects so many events in a page that it would start parallel workers, which
 * takes several times as long as reading the page.
 */
export const walkingInOrder = [
  'SET LOCAL enable_bitmapscan = off',
  'SET LOCAL enable_sort = off',
  'SET LOCAL jit = off',
  'SET LOCAL max_parallel_workers_per_gather = 0',
];
