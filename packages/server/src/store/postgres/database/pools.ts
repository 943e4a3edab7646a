/** A server's connections, besides the one that listens (watch.ts). On a cluster, each machine's accounts have as many. */
import { mostUnderWay } from '../transactions/write-queue.ts';
import { byKey, type ConnectionPool, inOrder, openPool } from './connection.ts';
import { type MachineOf, separate } from './machines.ts';

const mostWriting = 4;
const mostReading = 4;
/** For fast reads, above all of tokens, which must not wait for slow ones. */
const mostQuick = 2;

const open = {
  /** They store events. */
  events: (databaseURL: string) => openPool(databaseURL, mostUnderWay, byKey),
  writes: (databaseURL: string) => openPool(databaseURL, mostWriting),
  reads: (databaseURL: string) => openPool(databaseURL, mostReading, inOrder),
  quick: (databaseURL: string) => openPool(databaseURL, mostQuick),
};

export type Pools = Readonly<Record<keyof typeof open, ConnectionPool>>;

const poolsBy = (poolOf: (name: keyof typeof open) => ConnectionPool): Pools => ({
  events: poolOf('events'),
  writes: poolOf('writes'),
  reads: poolOf('reads'),
  quick: poolOf('quick'),
});

/** Connections open as they are taken. */
export const openPools = (databaseURL: string): Pools => poolsBy((name) => open[name](databaseURL));

/** Pools for each machine of a cluster; `first` are those of the coordinator. */
export const separatePools = (first: Pools, databaseURL: string, machineOf: MachineOf): Pools =>
  poolsBy((name) => separate(first[name], () => open[name](databaseURL), machineOf));

export const closePools = async (pools: Pools): Promise<void> => {
  await Promise.all(Object.values(pools).map((pool) => pool.close()));
};
