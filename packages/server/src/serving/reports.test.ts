import { expect, it } from 'vitest';
import type { ErasureReceipt, Store } from '../store/store.ts';
import { awaitingFiles } from './reports.ts';

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
