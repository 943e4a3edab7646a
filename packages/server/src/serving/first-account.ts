/** Creates the first account for an operator who starts a server without `firsthand setup`. */
import { createAccountInput } from '@firsthand/contract/account/account';
import { newAccount } from '../ingest/new-account.ts';
import type { Store } from '../store/store.ts';

/**
 * Creates an account and returns its number; undefined if the database has one. The server token's text is discarded.
 */
export const createFirstAccount = async (store: Store, time: number): Promise<number | undefined> => {
  if ((await store.listAccounts()).length > 0) return undefined;
  const { account } = newAccount(createAccountInput.parse({ accountName: 'My site' }), [], { time, createdBy: null });
  await store.createAccount(account);
  const [created] = await store.listAccounts();
  return created?.account;
};
