/** Optimistic account changes: the page shows them before the server has responded. */
import type { RequestFor } from '@firsthand/client';
import { api } from '../api.ts';
import { type Account, account, readAccount } from '../reading/account.ts';
import { act } from './notices.tsx';

interface AccountChange {
  readonly change: RequestFor<'updateAccount'>;
  readonly undo: RequestFor<'updateAccount'>;
  /** The account fields after the change. */
  readonly shown: Partial<Account>;
  readonly done: string;
}

/** Returns whether the change succeeded. If not, the page shows the previous state again. */
export const changeAccount = async ({ change, undo, shown, done }: AccountChange): Promise<boolean> => {
  const before = account.peek();
  if (before) account.value = { ...before, ...shown };
  const isDone = await act(() => api.updateAccount(change), {
    done,
    undo: () => api.updateAccount(undo),
    refresh: readAccount,
  });
  if (!isDone)
    await readAccount().catch(() => {
      account.value = before;
    });
  return isDone;
};
