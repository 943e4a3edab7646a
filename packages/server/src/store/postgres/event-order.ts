/**
 * The order of events, as the indexes have it: by groups of sequences. Rows of one holder or account whose sequences lie in
 * one group have equal keys; of these an index keeps the key once, and 6 bytes for each row: 6 to 18 for an event, where one
 * by the sequence itself takes 30 to 40. A page walks along the groups and sorts one at a time (Incremental Sort, which
 * PostgreSQL has since 13).
 */

/** Of a holder's rows 2^10 sequences are a group, of an account's 2^8: as many of its events, at most, are read for one. */
const bits = { holder: 10, account: 8 } as const;

/** Whose index has them in order. */
export type OrderedBy = keyof typeof bits;

/** SQL for the group of a sequence, which is SQL as well: as it stands in the index. */
export const sequenceGroup = (by: OrderedBy, sequence = 'sequence'): string => `(${sequence} >> ${bits[by]})`;

export const isSameGroup = (by: OrderedBy, one: number, other: number): boolean =>
  Math.floor(one / 2 ** bits[by]) === Math.floor(other / 2 ** bits[by]);

/** SQL for after < sequence <= through; these are SQL as well, and say that they are bigints. */
export const within = (by: OrderedBy, after: string, through: string): string =>
  `sequence > ${after} AND sequence <= ${through}
   AND ${sequenceGroup(by)} >= ${sequenceGroup(by, after)} AND ${sequenceGroup(by)} <= ${sequenceGroup(by, through)}`;

/** SQL to order by, as the index does. */
export const inGroups = (by: OrderedBy, order: 'ASC' | 'DESC' = 'ASC'): string =>
  `${sequenceGroup(by)} ${order}, sequence ${order}`;

/**
 * SQL at the beginning of a transaction that reads events in order. Of a holder with very many PostgreSQL expects as few as
 * of the others, and would sort them all rather than walk along the index. For such transactions only: elsewhere a few rows
 * are found by another index than the one that has all in order, and sorted. PostgreSQL up to 17 counts what is off as a
 * great cost, and would compile a plan for that where it has no other. And it believes that a page is worth processes of
 * its own, because so many events might be in it: to begin these takes several times as long as to read it.
 */
export const walkingInOrder = [
  'SET LOCAL enable_bitmapscan = off',
  'SET LOCAL enable_sort = off',
  'SET LOCAL jit = off',
  'SET LOCAL max_parallel_workers_per_gather = 0',
].join('; ');
