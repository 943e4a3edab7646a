/** The buckets of countEvents, one between each pair of adjacent edges. */
import type { CountBucket } from '../store.ts';

export interface Bucket {
  events: number;
  readonly visitors: Set<number>;
}

export const createBuckets = (edges: readonly number[]): Bucket[] =>
  edges.slice(1).map(() => ({ events: 0, visitors: new Set() }));

/** Returns the event counts; with `users`, also the counts of distinct visitors. */
export const countsOf = (buckets: readonly Bucket[], users: boolean): CountBucket[] =>
  buckets.map(({ events, visitors }) => ({ events, ...(users && { users: visitors.size }) }));
