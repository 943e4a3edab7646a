import { expect, test, vi } from 'vitest';
import type { Connection, ConnectionPool } from './connection.ts';
import { createPlaces, machinesBy, separate } from './machines.ts';

/** A connection to a coordinator that has odd accounts on machine 1, and even ones on machine 2. */
const createCoordinator = () => {
  let asked = 0;
  let isAway = false;
  const db = {
    one: async (_: string, [account]: [number]) => {
      asked += 1;
      if (isAway) throw new Error('away');
      return { machine: account % 2 === 1 ? 1 : 2, shard: 7 };
    },
  } as unknown as Connection;
  return {
    ask: <Value>(work: (connection: Connection) => Promise<Value>) => work(db),
    asked: () => asked,
    goAway: (away: boolean) => {
      isAway = away;
    },
  };
};

test('the machine of an account is asked for once a minute', async () => {
  vi.useFakeTimers();
  const { ask, asked } = createCoordinator();
  const machineOf = machinesBy(createPlaces(ask));
  expect(await Promise.all([machineOf(3), machineOf(3), machineOf(4)])).toEqual([1, 1, 2]);
  expect(asked()).toBe(2);
  vi.advanceTimersByTime(60_001);
  expect(await machineOf(3)).toBe(1);
  expect(asked()).toBe(3);
  vi.useRealTimers();
});

test('a machine that could not be asked for is asked for again', async () => {
  const { ask, goAway } = createCoordinator();
  const machineOf = machinesBy(createPlaces(ask));
  goAway(true);
  await expect(machineOf(3)).rejects.toThrow('away');
  goAway(false);
  expect(await machineOf(3)).toBe(1);
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
