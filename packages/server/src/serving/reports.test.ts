import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { ErasureReceipt, Store } from '../store/store.ts';
import { awaitingFiles, startPurging } from './reports.ts';

const receiptOf = (complete: boolean): ErasureReceipt => ({
  contactUUID: 'c',
  erasedTime: 1,
  deletedEvents: 2,
  complete,
});
const request = { account: 7, contactUUID: 'c', time: 1 };

const open = (complete: boolean, purged: () => Promise<void>) => {
  const asked: number[] = [];
  const store = awaitingFiles({ eraseContact: async () => receiptOf(complete) } as unknown as Store, {
    purged: (account) => {
      asked.push(account);
      return purged();
    },
  });
  return { asked, erase: () => store.eraseContact(request) };
};

it('a receipt is complete when neither the store nor a file of reports holds the events', async () => {
  const { asked, erase } = open(true, async () => {});
  expect(await erase()).toEqual(receiptOf(true));
  expect(asked).toEqual([7]);
});

it('a receipt is not complete while the files are written again, or when that fails', async () => {
  const never = new Promise<void>(() => {});
  expect(await open(true, () => never).erase()).toEqual(receiptOf(false));
  expect(await open(true, () => Promise.reject(new Error('full'))).erase()).toEqual(receiptOf(false));
});

it('an erasure that the store has not completed begins with the files too, and does not wait for them', async () => {
  const { asked, erase } = open(false, () => new Promise<void>(() => {}));
  expect(await erase()).toEqual(receiptOf(false));
  expect(asked).toEqual([7]);
});

it('what is erased is removed from the files of each account, again after a failure, and then when something was stored', async () => {
  const purges: number[] = [];
  let commit = () => {};
  let isFailing = true;
  const forgotten: number[] = [];
  const reports = {
    forget: async (account: number) => void forgotten.push(account),
    accountsWithFiles: async () => (forgotten.length === 0 ? [1, 2, 3] : [1, 2]),
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
  // The store has no account 3 any more.
  expect(forgotten).toEqual([3]);
  isFailing = false;
  // The round that is under way, and at most one that follows its failure.
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
