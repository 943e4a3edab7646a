import { expect, it } from 'vitest';
import { type Caller, withoutAccountSettings } from '../access/caller.ts';
import { createSenders } from './sender.ts';

const callerOf = (account: number): Caller => ({
  access: { ...withoutAccountSettings, token: 1, tokenID: 'a', kind: 'server', account },
  tokenUUID: '',
  time: 0,
});

it('derives one key for each account and database, which never changes', async () => {
  const open = (byte: number) => createSenders({ getDatabaseKey: async () => new Uint8Array(32).fill(byte) });
  const keyOf = async (senderOf: ReturnType<typeof open>, account: number) =>
    Buffer.from((await senderOf(callerOf(account))).hashKey).toString('base64url');
  const [one, other] = [open(1), open(2)];
  const keys = [await keyOf(one, 1), await keyOf(one, 2), await keyOf(other, 1)];
  expect(new Set(keys).size).toBe(3);
  expect(await keyOf(one, 1)).toBe(keys[0]);
  expect(keys[0]).toBe('t8y7wwCXf0vfQpUG3kp9lSag1bXBsDwutvyKO99YE7A');
});
