/** A server's connections, besides the one that listens (watch.ts). */
import { maxConnections } from '../transactions/write-queue.ts';
import { byKey, type ConnectionPool, inOrder, openPool } from './connection.ts';

const mostWriting = 4;
const mostReading = 4;
/** For fast reads, above all of tokens, which must not wait for slow ones. */
const mostQuick = 2;

type Pools = Readonly<Record<'events' | 'writes' | 'reads' | 'quick', ConnectionPool>>;

/** Connections open as they are taken. */
export const openPools = (databaseURL: string): Pools => ({
  events: openPool(databaseURL, maxConnections, byKey),
  writes: openPool(databaseURL, mostWriting),
  reads: openPool(databaseURL, mostReading, inOrder),
  quick: openPool(databaseURL, mostQuick),
});

export const closePools = async (pools: Pools): Promise<void> => {
  await Promise.all(Object.values(pools).map((pool) => pool.close()));
};
