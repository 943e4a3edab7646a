/** Changes of the account that the page shows before the server has answered. */
import type { RequestFor } from '@firsthand/client';
import { api } from '../api.ts';
import { type Account, account, readAccount } from '../reading/account.ts';
import { act } from './notices.tsx';

interface AccountChange {
  readonly change: RequestFor<'updateAccount'>;
  readonly undo: RequestFor<'updateAccount'>;
  /** The fields of the account as they will be. */
  readonly shown: Partial<Account>;
  readonly done: string;
}

/** Returns whether it was done. If not, the page shows again what was there before. */
export const changeAccount = async ({ change, undo, shown, done }: AccountChange): Promise<boolean> => {
  const before = account.peek();
  if (before) account.value = { ...before, ...shown };
  const isDone = await act(() => api.updateAccount(change), {
    done,
    undo: () => api.updateAccount(undo),
    after: readAccount,
  });
  if (!isDone)
    await readAccount().catch(() => {
      account.value = before;
    });
  return isDone;
};
