/**
 * On a Citus cluster, each machine's accounts have connections of their own: what waits for a slow machine takes none from the accounts of
 * another, and a machine is asked by no more connections than on one PostgreSQL.
 */
import { BoundedMap } from '../../../bounded-map.ts';
import type { Connection, ConnectionPool } from './connection.ts';

/** Where the rows of an account are. */
export interface Place {
  readonly machine: number;
  /** The shard of `account_position` that has the account's row. Accounts with the same shard share the shards of all tables. */
  readonly shard: number;
}

/** The places of accounts. */
export interface Places {
  of(account: number): Promise<Place>;
  /** Makes `of` ask again for accounts. */
  forget(accounts: readonly number[]): void;
}

/** Returns the machine that has the rows of an account. */
export type MachineOf = (account: number) => Promise<number>;

/** The coordinator, which has what belongs to no account. */
export const coordinator = 0;

/** The size of the memory of accounts. */
const mostRemembered = 50_000;

/**
 * An account that has moved is asked for on connections of its earlier machine for up to so long, which costs only the separation, or until a
 * transaction finds it on another machine than others.
 */
const millisecondsRemembered = 60_000;

type Ask = <Value>(work: (db: Connection) => Promise<Value>) => Promise<Value>;

/** Returns a function that finds places on a connection to the coordinator, and remembers them. */
export const createPlaces = (ask: Ask): Places => {
  const remembered = new BoundedMap<number, { readonly place: Promise<Place>; readonly until: number }>(mostRemembered);
  const find = (account: number): Promise<Place> => {
    const sql = `SELECT groupid AS machine, shardid AS shard FROM pg_dist_placement
      WHERE shardid = get_shard_id_for_distribution_column('account_position', $1::integer)`;
    return ask((db) => db.one<Place>(sql, [account]));
  };
  return {
    of(account) {
      const known = remembered.get(account);
      if (known && performance.now() < known.until) return known.place;
      const place = find(account);
      remembered.set(account, { place, until: performance.now() + millisecondsRemembered });
      place.catch(() => remembered.delete(account));
      return place;
    },
    forget(accounts) {
      for (const account of accounts) remembered.delete(account);
    },
  };
};

/** Returns a function that finds only the machine. */
export const machinesBy =
  (places: Places): MachineOf =>
  async (account) =>
    (await places.of(account)).machine;

/** Returns the accounts of each machine. */
export const byMachine = async (
  accounts: readonly number[],
  machineOf: MachineOf,
): Promise<Map<number, [number, ...number[]]>> => {
  const groups = new Map<number, [number, ...number[]]>();
  for (const account of accounts) {
    const machine = await machineOf(account);
    const group = groups.get(machine);
    if (group) group.push(account);
    else groups.set(machine, [account]);
  }
  return groups;
};

/** A pool for each machine, as `open` opens it; `first` is the coordinator's. */
export const separate = (first: ConnectionPool, open: () => ConnectionPool, machineOf: MachineOf): ConnectionPool => {
  const pools = new Map([[coordinator, first]]);
  const poolOf = (machine: number): ConnectionPool => {
    const pool = pools.get(machine) ?? open();
    pools.set(machine, pool);
    return pool;
  };
  return {
    take: async (account) => poolOf(account === 0 ? coordinator : await machineOf(account)).take(account),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
};
