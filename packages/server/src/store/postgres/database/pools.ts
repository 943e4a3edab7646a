/** A server's connections, besides the one that listens (watch.ts). On a cluster, each machine's accounts have as many. */
import { mostUnderWay } from '../transactions/write-queue.ts';
import { byKey, type ConnectionPool, inOrder, openPool } from './connection.ts';
import { type MachineOf, separate } from './machines.ts';

const mostWriting = 4;
const mostReading = 4;
/** For fast reads, above all of tokens, which must not wait for slow ones. */
const mostQuick = 2;

/** In milliseconds. A machine that has no accounts any more keeps no connections. */
const idleOfMachine = 600_000;

type Open = (databaseURL: string, idle: number) => ConnectionPool;
const open = {
  /** They store events. */
  events: (databaseURL, idle) => openPool(databaseURL, mostUnderWay, { settings: byKey, idle }),
  writes: (databaseURL, idle) => openPool(databaseURL, mostWriting, { idle }),
  reads: (databaseURL, idle) => openPool(databaseURL, mostReading, { settings: inOrder, idle }),
  quick: (databaseURL, idle) => openPool(databaseURL, mostQuick, { idle }),
} satisfies Record<string, Open>;

type Pools = Readonly<Record<keyof typeof open, ConnectionPool>>;

const poolsBy = (poolOf: (name: keyof typeof open) => ConnectionPool): Pools => ({
  events: poolOf('events'),
  writes: poolOf('writes'),
  reads: poolOf('reads'),
  quick: poolOf('quick'),
});

/** Connections open as they are taken. */
export const openPools = (databaseURL: string): Pools => poolsBy((name) => open[name](databaseURL, 0));

/** Pools for each machine of a cluster; `first` are those of the coordinator. */
export const separatePools = (first: Pools, databaseURL: string, machineOf: MachineOf): Pools =>
  poolsBy((name) => separate(first[name], () => open[name](databaseURL, idleOfMachine), machineOf));

export const closePools = async (pools: Pools): Promise<void> => {
  await Promise.all(Object.values(pools).map((pool) => pool.close()));
};
