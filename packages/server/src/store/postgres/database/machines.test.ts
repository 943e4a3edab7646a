import { expect, test, vi } from 'vitest';
import type { Connection, ConnectionPool } from './connection.ts';
import { createPlaces, machinesBy, separate } from './machines.ts';

/** A connection to a coordinator that has odd accounts in shard 1, and even ones in shard 2, each on the machine of that number. */
const createCoordinator = () => {
  const asked = { shards: 0, machines: 0 };
  let isAway = false;
  /** What is added to the number of a shard when it is divided. */
  let divided = 0;
  const answer = <Value>(what: keyof typeof asked, value: Value): Value => {
    asked[what] += 1;
    if (isAway) throw new Error('away');
    return value;
  };
  const db = {
    one: async (_: string, [account]: [number]) => answer('shards', { shard: divided + 2 - (account % 2) }),
    all: async () =>
      answer(
        'machines',
        [1, 2].map((machine) => ({ shard: divided + machine, machine })),
      ),
  } as unknown as Connection;
  return {
    ask: <Value>(work: (connection: Connection) => Promise<Value>) => work(db),
    asked,
    goAway: (away: boolean) => {
      isAway = away;
    },
    divide: () => {
      divided += 10;
    },
  };
};

test('the machines of all shards are asked for once a minute, and the shard of an account once', async () => {
  vi.useFakeTimers();
  const { ask, asked } = createCoordinator();
  const machineOf = machinesBy(createPlaces(ask));
  expect(await Promise.all([machineOf(3), machineOf(3), machineOf(4)])).toEqual([1, 1, 2]);
  expect(asked).toEqual({ shards: 2, machines: 1 });
  vi.advanceTimersByTime(60_001);
  expect(await Promise.all([machineOf(3), machineOf(4)])).toEqual([1, 2]);
  expect(asked).toEqual({ shards: 2, machines: 2 });
  vi.useRealTimers();
});

test('the machines are known while the coordinator is away, and are asked for again every second', async () => {
  vi.useFakeTimers();
  const { ask, asked, goAway } = createCoordinator();
  const machineOf = machinesBy(createPlaces(ask));
  await machineOf(3);
  goAway(true);
  vi.advanceTimersByTime(60_001);
  for (let nth = 0; nth < 3; nth += 1) expect(await machineOf(3)).toBe(1);
  expect(asked.machines).toBe(2);
  vi.advanceTimersByTime(1_001);
  goAway(false);
  for (let nth = 0; nth < 3; nth += 1) expect(await machineOf(3)).toBe(1);
  expect(asked.machines).toBe(3);
  vi.useRealTimers();
});

test('the shard of an account is asked for again when the shard was divided, and not when machines are forgotten', async () => {
  const { ask, asked, divide } = createCoordinator();
  const places = createPlaces(ask);
  expect(await places.of(3)).toEqual({ machine: 1, shard: 1 });
  divide();
  // What is remembered is used for a minute.
  expect(await places.of(3)).toEqual({ machine: 1, shard: 1 });
  expect(await places.of(5)).toEqual({ machine: 1, shard: 11 });
  expect(await places.of(3)).toEqual({ machine: 1, shard: 11 });
  expect(asked).toEqual({ shards: 4, machines: 2 });
  places.forget();
  expect(await places.of(3)).toEqual({ machine: 1, shard: 11 });
  expect(asked).toEqual({ shards: 4, machines: 3 });
});

test('accounts whose shard was divided ask for the machines once', async () => {
  const { ask, asked, divide } = createCoordinator();
  const places = createPlaces(ask);
  await Promise.all([1, 3, 5].map(places.of));
  divide();
  expect(await places.of(7)).toEqual({ machine: 1, shard: 11 });
  divide();
  places.forget();
  const found = await Promise.all([1, 3, 5, 7].map(places.of));
  expect(found).toEqual(found.map(() => ({ machine: 1, shard: 21 })));
  expect(asked.machines).toBe(3);
});

test('a machine that could not be asked for is asked for again', async () => {
  const { ask, goAway } = createCoordinator();
  const machineOf = machinesBy(createPlaces(ask));
  goAway(true);
  await expect(machineOf(3)).rejects.toThrow('away');
  goAway(false);
  expect(await machineOf(3)).toBe(1);
});

test('a shard that no machine has is an error', async () => {
  const db = { one: async () => ({ shard: 7 }), all: async () => [] } as unknown as Connection;
  await expect(createPlaces((work) => work(db)).of(3)).rejects.toThrow('no machine has the shard of account 3');
});

test('accounts of one machine share a pool, the service has the coordinator’s, and all are closed', async () => {
  const pools: { takes: number[]; close: ReturnType<typeof vi.fn> }[] = [];
  const open = (): ConnectionPool => {
    const pool = { takes: [] as number[], close: vi.fn(async () => {}) };
    pools.push(pool);
    return {
      take: async (account) => {
        pool.takes.push(account);
        return {} as never;
      },
      close: pool.close,
    };
  };
  const pool = separate(open(), open, machinesBy(createPlaces(createCoordinator().ask)));
  for (const account of [3, 0, 4, 5, 2]) await pool.take(account);
  expect(pools.map(({ takes }) => takes)).toEqual([[0], [3, 5], [4, 2]]);
  await pool.close();
  for (const { close } of pools) expect(close).toHaveBeenCalledOnce();
});
