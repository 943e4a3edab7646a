import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { ErasureReceipt, Store } from '../store/store.ts';
import { startPurging, withFilePurging } from './reports.ts';

const receiptOf = (complete: boolean): ErasureReceipt => ({
  contactUUID: 'c',
  erasedTime: 1,
  deletedEvents: 2,
  complete,
});
const request = { account: 7, contactUUID: 'c', time: 1 };

const open = (complete: boolean, purged: () => Promise<void>) => {
  const purgedAccounts: number[] = [];
  const store = withFilePurging({ eraseContact: async () => receiptOf(complete) } as unknown as Store, {
    purged: (account) => {
      purgedAccounts.push(account);
      return purged();
    },
  });
  return { purgedAccounts, erase: () => store.eraseContact(request) };
};

it('returns a complete receipt when neither the store nor a report file holds the events', async () => {
  const { purgedAccounts, erase } = open(true, async () => {});
  expect(await erase()).toEqual(receiptOf(true));
  expect(purgedAccounts).toEqual([7]);
});

it('returns an incomplete receipt while the files are being rewritten, or if that fails', async () => {
  const never = new Promise<void>(() => {});
  expect(await open(true, () => never).erase()).toEqual(receiptOf(false));
  expect(await open(true, () => Promise.reject(new Error('full'))).erase()).toEqual(receiptOf(false));
});

it('starts purging the files before the store completes an erasure, without waiting for them', async () => {
  const { purgedAccounts, erase } = open(false, () => new Promise<void>(() => {}));
  expect(await erase()).toEqual(receiptOf(false));
  expect(purgedAccounts).toEqual([7]);
});

it('removes erased events from each account’s files after each commit, and retries after a failure', async () => {
  const purges: number[] = [];
  let commit = () => {};
  let isFailing = true;
  const deletedAccounts: number[] = [];
  const reports = {
    forget: async (account: number) => void deletedAccounts.push(account),
    accountsWithFiles: async () => (deletedAccounts.length === 0 ? [1, 2, 3] : [1, 2]),
    purged: async (account: number) => {
      purges.push(account);
      if (account === 1 && isFailing) throw new Error('full');
    },
  };
  const listAccounts = async () =>
    [1, 2].map((account) => ({ account, accountUUID: '', accountName: '', createdTime: 0 }));
  const onCommit = (listener: () => void) => {
    commit = listener;
    return () => {};
  };
  onTestFinished(startPurging(reports, { onCommit, listAccounts, log: pino({ level: 'silent' }), pauseMs: 1 }));
  await expect.poll(() => purges.slice(0, 4)).toEqual([1, 2, 1, 2]);
  // Account 3 no longer exists in the store.
  expect(deletedAccounts).toEqual([3]);
  isFailing = false;
  // Waits for the current round, and for one retry at most.
  const isAtRest = async () => {
    const before = purges.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return purges.length === before;
  };
  await expect.poll(isAtRest).toBe(true);
  purges.length = 0;
  commit();
  await expect.poll(() => purges).toEqual([1, 2]);
});
