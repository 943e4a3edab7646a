import { expect, test, vi } from 'vitest';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { createWorkFinder, startMaintenance } from './maintenance.ts';

/** A transaction that has, or has not, what one server has at a time. */
const having = (mine: boolean) => ({ one: async () => ({ mine }) }) as unknown as Transaction;

const find = async () => [1];

test('what cannot be done now is done later, and as long as there is more', async () => {
  const left = [true, true, false];
  const step = vi.fn(async () => left.shift() ?? false);
  let isAway = true;
  const inTransaction = vi.fn(async (_: number, work: (db: Transaction) => Promise<boolean>) => {
    if (isAway) throw new Error('the database is away');
    return work(having(true));
  });
  const maintenance = startMaintenance({ find, inTransaction, step });
  await expect.poll(() => inTransaction.mock.calls.length).toBeGreaterThan(0);
  expect(step).not.toHaveBeenCalled();
  isAway = false;
  maintenance.wake();
  await expect.poll(() => left).toEqual([]);
  await maintenance.close();
});

test('work that appears during a step is done right after it', async () => {
  const ends: (() => void)[] = [];
  const step = vi.fn(() => new Promise<boolean>((resolve) => ends.push(() => resolve(false))));
  const maintenance = startMaintenance({ find, inTransaction: (_, work) => work(having(true)), step });
  await expect.poll(() => ends.length).toBe(1);
  maintenance.wake();
  ends[0]?.();
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(step).toHaveBeenCalledTimes(2);
  ends[1]?.();
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(step).toHaveBeenCalledTimes(2);
  await maintenance.close();
});

test('what another server does is left to that', async () => {
  const step = vi.fn(async () => false);
  const inTransaction = vi.fn((_: number, work: (db: Transaction) => Promise<boolean>) => work(having(false)));
  const maintenance = startMaintenance({ find, inTransaction, step });
  await expect.poll(() => inTransaction.mock.calls.length).toBeGreaterThan(0);
  await maintenance.close();
  expect(step).not.toHaveBeenCalled();
});

test('while nothing is written, most checks are left out', async () => {
  const search = vi.fn(async () => []);
  const maintenance = startMaintenance({ find: search, inTransaction: async () => false, step: async () => false });
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect(search).toHaveBeenCalledTimes(1);
  maintenance.noteWrite();
  await expect.poll(() => search.mock.calls.length, { timeout: 5_000 }).toBe(2);
  await maintenance.close();
});

test('on a cluster, most queries are about accounts that this server has written, machine by machine, and some about all', async () => {
  const withWork = new Set([3, 8]);
  const away = new Set<number>();
  let thaw = () => {};
  const hanging = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  const slow = new Set<number>();
  const asked: (readonly number[] | 'all')[] = [];
  const machineOf = async (account: number) => account % 2;
  const ask = async <Value>(account: number, work: (db: Connection) => Promise<Value>): Promise<Value> => {
    if (account > 0 && away.has(await machineOf(account))) throw new Error('the machine is away');
    if (account > 0 && slow.has(await machineOf(account))) await hanging;
    return work({
      async all(sql: string, [accounts]: [(readonly number[])?] = []) {
        if (sql.includes('FROM erasure')) asked.push(accounts ?? 'all');
        return [...withWork].filter((each) => accounts?.includes(each) ?? true).map((each) => ({ account: each }));
      },
    } as unknown as Connection);
  };
  const finder = createWorkFinder(ask, machineOf, 20);
  expect(await finder.find()).toEqual([3, 8]);
  withWork.delete(8);
  finder.noteAccount(5);
  expect(await finder.find()).toEqual([3]);
  // What had work is asked again; what had none is not, until it is written.
  expect(await finder.find()).toEqual([3]);
  expect(asked.splice(0)).toEqual(['all', [3, 5], [8], [3]]);
  // What a machine has that is away is asked again, beside those of the others.
  away.add(1);
  withWork.add(4);
  finder.noteAccount(4);
  expect(await finder.find()).toEqual([4]);
  away.clear();
  // What hangs is waited for a little, once, and asked about again when it has answered.
  slow.add(1);
  expect(await finder.find()).toEqual([4]);
  withWork.delete(4);
  expect(await finder.find()).toEqual([]);
  slow.clear();
  thaw();
  await expect.poll(() => finder.find()).toEqual([3]);
  withWork.delete(3);
  while (!asked.includes('all')) expect(await finder.find()).toEqual([]);
  expect(asked.splice(0)).toEqual([[4], [4], [4], [3], [3], [3], 'all']);
  withWork.add(9);
  for (let nth = 0; nth < 9; nth += 1) expect(await finder.find()).toEqual([]);
  expect(await finder.find()).toEqual([9]);
  const failing = createWorkFinder(async () => Promise.reject(new Error('the database is away')));
  failing.noteAccount(4);
  await expect(failing.find()).rejects.toThrow('away');
});
