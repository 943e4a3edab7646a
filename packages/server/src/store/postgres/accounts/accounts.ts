/** Accounts: creates, changes and reads them. */
import { Refusal } from '../../../shared/refusal.ts';
import { createToken, notifyAccess, tokensOf } from '../../operations/tokens.ts';
import { type AccountValues, findChangedValues, listGivenKinds } from '../../rules/accounts/account-changes.ts';
import type {
  AccountChange,
  AccountContact,
  AccountDetail,
  AccountSize,
  AccountSummary,
  CatalogueKind,
  CatalogueSettings,
  ContactOutcome,
  NewAccount,
  Store,
} from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { type CatalogueWriter, listCatalogue } from './catalogues.ts';
import { readUsage } from './usage.ts';

const summary = 'account, "accountUUID", "accountName", "createdTime"';

export const listAccounts = (db: Connection): Promise<AccountSummary[]> =>
  db.all<AccountSummary>(`SELECT ${summary} FROM account ORDER BY account`);

/** Returns the numbers of all accounts. */
export const listNumbers = async (db: Connection): Promise<number[]> =>
  (await db.all<{ account: number }>('SELECT account FROM account ORDER BY account')).map(({ account }) => account);

export const findAccount = async (db: Connection, accountUUID: string): Promise<number | undefined> =>
  (await db.get<{ account: number }>('SELECT account FROM account WHERE "accountUUID" = $1', [accountUUID]))?.account;

export const getAccount = async (db: Connection, account: number): Promise<AccountDetail> => {
  const [row, settings, profile, tag, attr, event, tokens, usage] = await Promise.all([
    db.get<Omit<AccountDetail, 'catalogues' | 'tokens' | 'usage' | 'storedBytes' | keyof CatalogueSettings>>(
      `SELECT ${summary}, "accountOrigin", "accountTimezone", "accountCurrency", enrich FROM account WHERE account = $1`,
      [account],
    ),
    db.get<CatalogueSettings>('SELECT strict, "browserCatalogue" FROM account_position WHERE account = $1', [account]),
    listCatalogue(db, account, 'profile'),
    listCatalogue(db, account, 'tag'),
    listCatalogue(db, account, 'attr'),
    listCatalogue(db, account, 'event'),
    runOperation(db, tokensOf(account)),
    readUsage(db, account),
  ]);
  if (!row || !settings) throw new Refusal('unknown_account', { field: 'accountUUID' });
  return { ...row, ...settings, catalogues: { profile, tag, attr, event }, tokens, ...usage };
};

export const measureAccounts = async (db: Connection): Promise<AccountSize[]> => {
  const sizes: AccountSize[] = [];
  for (const { account, accountUUID } of await listAccounts(db)) {
    sizes.push({ account, accountUUID, storedBytes: (await readUsage(db, account)).storedBytes });
  }
  return sizes;
};

/** Locks the account, and reads the values that updateAccount may change. */
const valuesOf = async (db: Transaction, account: number, kinds: readonly CatalogueKind[]): Promise<AccountValues> => {
  const own = await db.one<AccountValues>(
    `SELECT "accountName", "accountOrigin", "accountTimezone", "accountCurrency", enrich FROM account WHERE account = $1 FOR NO KEY UPDATE`,
    [account],
  );
  const settings = await db.one<CatalogueSettings>(
    'SELECT strict, "browserCatalogue" FROM account_position WHERE account = $1 FOR NO KEY UPDATE',
    [account],
  );
  const lists = await Promise.all(kinds.map(async (kind) => [kind, await listCatalogue(db, account, kind)] as const));
  return { ...own, ...settings, ...Object.fromEntries(lists) };
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
    { tokens, catalogues: newCatalogues, contacts: changes, time, by, ...account }: NewAccount,
  ): Promise<ContactOutcome[]> {
    const {
      accountUUID,
      accountName,
      accountOrigin,
      accountTimezone,
      accountCurrency,
      strict,
      browserCatalogue,
      enrich,
    } = account;
    const { account: number } = await db.one<{ account: number }>(
      `INSERT INTO account
         ("accountUUID", "accountName", "accountOrigin", "accountTimezone", "accountCurrency", enrich, "createdTime")
       VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING account`,
      [accountUUID, accountName, JSON.stringify(accountOrigin), accountTimezone, accountCurrency, enrich, time],
    );
    await db.run('INSERT INTO account_position (account, strict, "browserCatalogue") VALUES ($1, $2, $3)', [
      number,
      strict,
      browserCatalogue,
    ]);
    // begin_writing did not call it, because the account had no number yet.
    if (db.isDistributed)
      await db.run('SELECT be_durable(), count(*) FROM account_position WHERE account = $1', [number]);
    for (const token of tokens) await runOperation(db, createToken({ ...token, account: number }));
    await catalogues.put(db, number, newCatalogues);
    return putContacts({ ...db, account: number }, changes, { time, by });
  },

  async updateAccount(
    db: Transaction,
    { account, catalogues: newCatalogues, contacts: changes, time, by, ...change }: AccountChange,
  ): ReturnType<Store['updateAccount']> {
    const { accountName, accountOrigin, accountTimezone, accountCurrency, strict, browserCatalogue, enrich } = change;
    const kinds = listGivenKinds(newCatalogues);
    const before = await valuesOf(db, account, kinds);
    await db.run(
      `UPDATE account SET "accountName" = coalesce($2, "accountName"), "accountOrigin" = coalesce($3, "accountOrigin"),
         "accountTimezone" = coalesce($4, "accountTimezone"), "accountCurrency" = coalesce($5, "accountCurrency"),
         enrich = coalesce($6, enrich)
       WHERE account = $1`,
      [account, accountName, accountOrigin && JSON.stringify(accountOrigin), accountTimezone, accountCurrency, enrich],
    );
    await db.run(
      `UPDATE account_position SET strict = coalesce($2, strict), "browserCatalogue" = coalesce($3, "browserCatalogue")
       WHERE account = $1`,
      [account, strict, browserCatalogue],
    );
    await runOperation(db, notifyAccess());
    // This also increments the version of the settings.
    await catalogues.put(db, account, newCatalogues);
    const updated = findChangedValues(before, await valuesOf(db, account, kinds));
    return { updated, contacts: await putContacts(db, changes, { time, by }) };
  },
});
