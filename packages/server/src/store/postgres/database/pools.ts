/** A server's connections, except the listening connection (watch.ts). */
import { type ConnectionPool, keyLookupOptions, openPool, orderedScanOptions } from './connection.ts';

/**
 * The maximum number of concurrent event commits, each on its own connection: while PostgreSQL syncs one commit, it
 * writes the others. A cluster has more, because each commit takes longer there.
 */
export const maxCommits = { here: 4, onCluster: 16 };
const maxWriting = 4;
const maxReading = 4;
/** The connections for fast reads, mostly of tokens, which must not wait for slow reads. */
const maxQuick = 2;

export type Pools = Readonly<Record<'events' | 'writes' | 'reads' | 'quick', ConnectionPool>>;

/** Creates the pools. Connections open on first use. */
export const openPools = (databaseURL: string): Pools => ({
  events: openPool(databaseURL, Math.max(maxCommits.here, maxCommits.onCluster), keyLookupOptions),
  writes: openPool(databaseURL, maxWriting),
  reads: openPool(databaseURL, maxReading, orderedScanOptions),
  quick: openPool(databaseURL, maxQuick),
});

export const closePools = async (pools: Pools): Promise<void> => {
  await Promise.all(Object.values(pools).map((pool) => pool.close()));
};
