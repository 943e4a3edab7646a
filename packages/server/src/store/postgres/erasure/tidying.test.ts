import { expect, test, vi } from 'vitest';
import type { Transaction } from '../transactions/transaction.ts';
import { startTidying } from './tidying.ts';

/** A transaction that has, or has not, what one server has at a time. */
const having = (mine: boolean) => ({ one: async () => ({ mine }) }) as unknown as Transaction;

test('what cannot be done now is done later, and as long as there is more', async () => {
  const left = [true, true, false];
  const step = vi.fn(async () => left.shift() ?? false);
  let isAway = true;
  const inTransaction = vi.fn(async (work: (db: Transaction) => Promise<boolean>) => {
    if (isAway) throw new Error('the database is away');
    return work(having(true));
  });
  const tidying = startTidying(inTransaction, step);
  await expect.poll(() => inTransaction.mock.calls.length).toBeGreaterThan(0);
  expect(step).not.toHaveBeenCalled();
  isAway = false;
  tidying.wake();
  await expect.poll(() => left, { timeout: 10_000 }).toEqual([]);
  await tidying.close();
});

test('work that appears during a step is done right after it', async () => {
  const ends: (() => void)[] = [];
  const step = vi.fn(() => new Promise<boolean>((resolve) => ends.push(() => resolve(false))));
  const tidying = startTidying((work) => work(having(true)), step);
  await expect.poll(() => ends.length).toBe(1);
  tidying.wake();
  ends[0]?.();
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(step).toHaveBeenCalledTimes(2);
  ends[1]?.();
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(step).toHaveBeenCalledTimes(2);
  await tidying.close();
});

test('what another server does is left to that', async () => {
  const step = vi.fn(async () => false);
  const inTransaction = vi.fn((work: (db: Transaction) => Promise<boolean>) => work(having(false)));
  const tidying = startTidying(inTransaction, step);
  await expect.poll(() => inTransaction.mock.calls.length).toBeGreaterThan(0);
  await tidying.close();
  expect(step).not.toHaveBeenCalled();
});
