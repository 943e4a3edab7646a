import { expect, test, vi } from 'vitest';
import type { Transaction } from '../transactions/transaction.ts';
import { startMaintenance } from './maintenance.ts';

/** Returns a fake transaction that can take the maintenance lock or, if `mine` is false, cannot. */
const withLock = (mine: boolean) => ({ one: async () => ({ mine }) }) as unknown as Transaction;

const find = async () => [1];

test('retries steps after failures, and continues while there is more', async () => {
  const left = [true, true, false];
  const step = vi.fn(async () => left.shift() ?? false);
  let isUnavailable = true;
  const inTransaction = vi.fn(async (_: number, work: (db: Transaction) => Promise<boolean>) => {
    if (isUnavailable) throw new Error('the database is unavailable');
    return work(withLock(true));
  });
  const maintenance = startMaintenance({ find, inTransaction, step });
  await expect.poll(() => inTransaction.mock.calls.length).toBeGreaterThan(0);
  expect(step).not.toHaveBeenCalled();
  isUnavailable = false;
  maintenance.wake();
  await expect.poll(() => left).toEqual([]);
  await maintenance.close();
});

test('runs work that appears during a step immediately after that step', async () => {
  const ends: (() => void)[] = [];
  const step = vi.fn(() => new Promise<boolean>((resolve) => ends.push(() => resolve(false))));
  const maintenance = startMaintenance({ find, inTransaction: (_, work) => work(withLock(true)), step });
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

test('leaves work to the server that holds the lock', async () => {
  const step = vi.fn(async () => false);
  const inTransaction = vi.fn((_: number, work: (db: Transaction) => Promise<boolean>) => work(withLock(false)));
  const maintenance = startMaintenance({ find, inTransaction, step });
  await expect.poll(() => inTransaction.mock.calls.length).toBeGreaterThan(0);
  await maintenance.close();
  expect(step).not.toHaveBeenCalled();
});

test('skips most checks while nothing is written', async () => {
  const search = vi.fn(async () => []);
  const maintenance = startMaintenance({ find: search, inTransaction: async () => false, step: async () => false });
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect(search).toHaveBeenCalledTimes(1);
  maintenance.noteWrite();
  await expect.poll(() => search.mock.calls.length, { timeout: 5_000 }).toBe(2);
  await maintenance.close();
});
