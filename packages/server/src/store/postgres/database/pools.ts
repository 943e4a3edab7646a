/** A server's connections, besides the one that listens (watch.ts). */
import { byKey, type ConnectionPool, inOrder, openPool } from './connection.ts';

/** Commits of events at the same time, each on its own connection: while PostgreSQL syncs one, the others are written. On a cluster each takes longer. */
export const maxCommits = { here: 4, onCluster: 16 };
const maxWriting = 4;
const maxReading = 4;
/** For fast reads, above all of tokens, which must not wait for slow ones. */
const maxQuick = 2;

type Pools = Readonly<Record<'events' | 'writes' | 'reads' | 'quick', ConnectionPool>>;

/** Connections open as they are taken. */
export const openPools = (databaseURL: string): Pools => ({
  events: openPool(databaseURL, Math.max(maxCommits.here, maxCommits.onCluster), byKey),
  writes: openPool(databaseURL, maxWriting),
  reads: openPool(databaseURL, maxReading, inOrder),
  quick: openPool(databaseURL, maxQuick),
});

export const closePools = async (pools: Pools): Promise<void> => {
  await Promise.all(Object.values(pools).map((pool) => pool.close()));
};
