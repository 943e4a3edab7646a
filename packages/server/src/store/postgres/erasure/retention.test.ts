import { expect, test, vi } from 'vitest';
import { Refusal } from '../../../shared/refusal.ts';
import type { OldOfAccount } from './erasures.ts';
import { createRetention } from './retention.ts';

/** Accounts with old events; odd ones are on machine 1, even ones on machine 2. */
const open = (old: Record<number, number>) => {
  const left = new Map(Object.entries(old).map(([account, events]) => [Number(account), events]));
  let failure: Error | undefined;
  const failIfLost = (account: number) => {
    if (failure && account % 2 === 0) throw failure;
  };
  const listAccounts = vi.fn(async () => [...left.keys()]);
  const listRefusedBefore = vi.fn(async ([account]: readonly [number, ...number[]]) => {
    failIfLost(account);
    return [];
  });
  const deleteOf = vi.fn(async ({ account, mostEvents }: OldOfAccount) => {
    failIfLost(account);
    const events = Math.min(mostEvents, left.get(account) as number);
    left.set(account, (left.get(account) as number) - events);
    return { events, refused: 0 };
  });
  return {
    left,
    parts: { listAccounts, listRefusedBefore, deleteOf },
    machineOf: async (account: number) => (account % 2 === 1 ? 1 : 2),
    /** Machine 2 fails from now on; without a failure it is back. */
    lose(error?: Error) {
      failure = error;
    },
  };
};
const away = new Refusal('not_kept', { message: 'machine 2 is away' });
const request = { time: 1, most: 5 };

test('a machine that is away leaves the accounts of the others to be done, and is reported after them', async () => {
  const { left, parts, machineOf, lose } = open({ 2: 3, 3: 7, 4: 3, 5: 1 });
  const deleteEventsBefore = createRetention({ ...parts, machineOf });
  lose(away);
  expect(await deleteEventsBefore(request)).toBe(5);
  await expect(deleteEventsBefore(request)).rejects.toBe(away);
  expect(Object.fromEntries(left)).toEqual({ 2: 3, 3: 0, 4: 3, 5: 0 });
  // Asked once, not for each account, and not again while the others have more.
  expect(parts.listRefusedBefore.mock.calls.filter(([[account]]) => account % 2 === 0)).toHaveLength(1);
  lose();
  expect(await deleteEventsBefore(request)).toBe(5);
  expect(await deleteEventsBefore(request)).toBe(1);
  expect(await deleteEventsBefore(request)).toBe(0);
});

test('a machine that goes away between two of its accounts has its first account done', async () => {
  const { left, parts, machineOf, lose } = open({ 2: 1, 3: 1, 4: 1 });
  const deleteEventsBefore = createRetention({ ...parts, machineOf });
  parts.listRefusedBefore.mockImplementation(async () => []);
  parts.deleteOf.mockImplementationOnce(async ({ account }) => {
    left.set(account, 0);
    lose(away);
    return { events: 1, refused: 0 };
  });
  await expect(deleteEventsBefore(request)).rejects.toBe(away);
  expect(Object.fromEntries(left)).toEqual({ 2: 0, 3: 0, 4: 1 });
});

test('any other failure ends the call, and machines that were away are asked again after it', async () => {
  const { parts, machineOf, lose } = open({ 2: 1, 3: 9 });
  const deleteEventsBefore = createRetention({ ...parts, machineOf });
  lose(away);
  expect(await deleteEventsBefore(request)).toBe(5);
  parts.deleteOf.mockRejectedValueOnce(new Error('a fault of this program'));
  await expect(deleteEventsBefore(request)).rejects.toThrow('a fault');
  lose();
  expect(await deleteEventsBefore({ ...request, most: 9 })).toBe(5);
  parts.listAccounts.mockRejectedValueOnce(away);
  await expect(deleteEventsBefore(request)).rejects.toBe(away);
});

test('one PostgreSQL that is away fails at the first account', async () => {
  const { parts } = open({ 2: 1, 3: 1, 4: 1 });
  const deleteEventsBefore = createRetention(parts);
  parts.deleteOf.mockRejectedValue(away);
  await expect(deleteEventsBefore(request)).rejects.toBe(away);
  expect(parts.deleteOf).toHaveBeenCalledTimes(1);
});
