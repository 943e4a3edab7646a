/** Creates and changes accounts, and adds their sizes to what both databases read alike. */
import {
  insertAccount,
  listAccounts,
  readAccount,
  readAccountValues,
  writeSettings,
} from '../../operations/accounts.ts';
import { findChangedValues, listGivenKinds } from '../../rules/accounts/account-changes.ts';
import type {
  AccountChange,
  AccountContact,
  AccountDetail,
  AccountSize,
  ContactOutcome,
  NewAccount,
  Store,
} from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { CatalogueWriter } from './catalogues.ts';
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

/** Stores the contacts in the body of an account (contacts/account-contacts.ts). */
type PutContacts = (
  db: Transaction,
  changes: readonly AccountContact[],
  act: Pick<AccountChange, 'time' | 'by'>,
) => Promise<ContactOutcome[]>;

export const createAccountWriter = (catalogues: CatalogueWriter, putContacts: PutContacts) => ({
  async createAccount(
    db: Transaction,
    { catalogues: newCatalogues, contacts: changes, ...account }: NewAccount,
  ): Promise<ContactOutcome[]> {
    const number = await runOperation(db, insertAccount(account));
    // begin_writing did not call it, because the account had no number yet.
    if (db.isDistributed)
      await db.run('SELECT be_durable(), count(*) FROM account_position WHERE account = $1', [number]);
    await catalogues.put(db, number, newCatalogues);
    return putContacts({ ...db, account: number }, changes, { time: account.time, by: account.by });
  },

  async updateAccount(
    db: Transaction,
    { account, catalogues: newCatalogues, contacts: changes, time, by, ...settings }: AccountChange,
  ): ReturnType<Store['updateAccount']> {
    const kinds = listGivenKinds(newCatalogues);
    const before = await runOperation(db, readAccountValues(account, kinds));
    await runOperation(db, writeSettings(account, settings));
    // This also increments the version of the settings.
    await catalogues.put(db, account, newCatalogues);
    const updated = findChangedValues(before, await runOperation(db, readAccountValues(account, kinds)));
    return { updated, contacts: await putContacts(db, changes, { time, by }) };
  },
});
