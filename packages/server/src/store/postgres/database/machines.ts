/**
 * On a Citus cluster, each machine's accounts have connections of their own: what waits for a slow machine takes none from the accounts of
 * another, and the accounts of a machine have as many connections as those of one PostgreSQL.
 */
import { BoundedMap } from '../../../shared/bounded-map.ts';
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
  /** Makes `of` ask again for the machines of all shards. */
  forget(): void;
}

/** Returns the machine that has the rows of an account. */
export type MachineOf = (account: number) => Promise<number>;

/** The coordinator. Its connections are for work that is of no account, or of all. */
export const coordinator = 0;

/** The size of the memory of accounts. */
const mostRemembered = 50_000;

/**
 * An account that has moved is asked for on connections of its earlier machine for up to so long, which costs only the separation, or until a
 * transaction finds it on another machine than others.
 */
const millisecondsRemembered = 60_000;

/** When the machines are due to be read again, it is tried so often. The earlier ones are used meanwhile. */
const millisecondsBetweenTries = 1_000;

/** The machine of each shard of `account_position`. */
type MachinesOfShards = ReadonlyMap<number, number>;

type Ask = <Value>(work: (db: Connection) => Promise<Value>) => Promise<Value>;

/**
 * Finds places on a connection to the coordinator, and remembers them. An account's shard changes only when Citus divides it; then no machine has the
 * earlier one.
 */
export const createPlaces = (ask: Ask): Places => {
  const shards = new BoundedMap<number, Promise<number>>(mostRemembered);
  let machines: MachinesOfShards | undefined;
  /** As performance.now() counts. */
  let until = 0;
  let reading: Promise<MachinesOfShards> | undefined;

  const shardOf = (account: number): Promise<number> => {
    const known = shards.get(account);
    if (known) return known;
    const sql = "SELECT get_shard_id_for_distribution_column('account_position', $1::integer) AS shard";
    const shard = ask((db) => db.one<Pick<Place, 'shard'>>(sql, [account])).then((row) => row.shard);
    shards.set(account, shard);
    shard.catch(() => shards.delete(account));
    return shard;
  };

  const readMachines = (): Promise<MachinesOfShards> => {
    if (reading) return reading;
    const sql = `SELECT shardid AS shard, groupid AS machine FROM pg_dist_placement JOIN pg_dist_shard USING (shardid)
      WHERE logicalrelid = 'account_position'::regclass`;
    const asked = ask((db) => db.all<Place>(sql)).then(
      (places) => new Map(places.map(({ shard, machine }) => [shard, machine])),
    );
    reading = asked;
    const end = (read?: MachinesOfShards): void => {
      // `forget` was called after this was sent: it may be too old.
      if (reading !== asked) return;
      reading = undefined;
      if (!read) return;
      machines = read;
      until = performance.now() + millisecondsRemembered;
    };
    asked.then(end, () => end());
    return asked;
  };

  /** Waits only while no machines are known. A coordinator that is slow or away delays no account whose shard is known. */
  const machinesOfShards = (): MachinesOfShards | Promise<MachinesOfShards> => {
    if (!machines) return readMachines();
    if (performance.now() > until) {
      until = performance.now() + millisecondsBetweenTries;
      readMachines().catch(() => {});
    }
    return machines;
  };

  const forget = (): void => {
    machines = undefined;
    reading = undefined;
  };

  const find = async (account: number): Promise<Place | undefined> => {
    const [shard, ofShards] = await Promise.all([shardOf(account), machinesOfShards()]);
    const machine = ofShards.get(shard);
    return machine === undefined ? undefined : { machine, shard };
  };

  return {
    async of(account) {
      const known = await find(account);
      if (known) return known;
      // The shard was divided.
      shards.delete(account);
      const before = machines;
      const divided = await find(account);
      if (divided) return divided;
      // The known machines are older than the division, unless they have been read again meanwhile.
      if (machines === before) forget();
      const later = await find(account);
      if (later) return later;
      // That reading may have begun before the division.
      forget();
      const found = await find(account);
      if (!found) throw new Error(`no machine has the shard of account ${account}`);
      return found;
    },
    forget,
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
