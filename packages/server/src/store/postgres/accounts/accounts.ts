/** Reads accounts and their sizes. */
import { listAccounts, readAccount } from '../../operations/accounts.ts';
import type { AccountDetail, AccountSize } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import { readUsage } from './usage.ts';

export const getAccount = async (db: Connection, account: number): Promise<AccountDetail> => {
  const [detail, usage] = await Promise.all([runOperation(db, readAccount(account)), readUsage(db, account)]);
  return { ...detail, ...usage };
};

export const measureAccounts = async (db: Connection): Promise<AccountSize[]> => {
  const sizes: AccountSize[] = [];
  for (const { account, accountUUID } of await runOperation(db, listAccounts())) {
    sizes.push({ account, accountUUID, storedBytes: (await readUsage(db, account)).storedBytes });
  }
  return sizes;
};
