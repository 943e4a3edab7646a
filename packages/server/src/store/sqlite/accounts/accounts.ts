/** Reads accounts and their sizes. */
import { listAccounts, readAccount } from '../../operations/accounts.ts';
import type { AccountDetail, AccountSize } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createUsageReader } from './usage.ts';

export const createAccountReader = (db: Connection) => {
  const runOperation = createOperationRunner(db);
  const usageOf = createUsageReader(db);

  return {
    *measureAccounts(): ChunkedRead<AccountSize[]> {
      const sizes: AccountSize[] = [];
      for (const { account, accountUUID } of runOperation(listAccounts())) {
        sizes.push({ account, accountUUID, storedBytes: (yield* usageOf(account)).storedBytes });
        yield;
      }
      return sizes;
    },
    *getAccount(account: number): ChunkedRead<AccountDetail> {
      return { ...runOperation(readAccount(account)), ...(yield* usageOf(account)) };
    },
  };
};
