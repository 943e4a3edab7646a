/** Opens the database for commands that access it directly, whether or not a server is running. */
import type { Command } from 'commander';
import { type Caller, commandLine, withoutAccountSettings } from '../../http/access/caller.ts';
import type { AccountSummary, Store } from '../../store/store.ts';
import { UsageError, withCause } from './command-errors.ts';
import { addSettings, jsonFlag, toSettings } from './flags.ts';

/** The options that `addDatabase` adds, under Commander's names. */
export type DatabaseOptions = { readonly databaseUrl?: string; readonly json?: boolean };

export const addDatabase = (command: Command): Command => addSettings(command, ['databaseURL']).option(...jsonFlag);

/** Returns the database's URL. Throws UsageError for a database in memory, which only its server can use. */
export const toDatabaseURL = (options: DatabaseOptions): string => {
  const { databaseURL } = toSettings(['databaseURL'], options);
  if (databaseURL !== 'sqlite::memory:') return databaseURL;
  throw new UsageError('DATABASE_URL names a database in memory, which only the server that created it can use');
};

/** Runs `work` on the store, alongside a running server if any. Creates a missing database only if `create` is set. */
export const withStore = async <Result>(
  options: DatabaseOptions,
  work: (store: Store) => Promise<Result>,
  { create = false } = {},
): Promise<Result> => {
  const databaseURL = toDatabaseURL(options);
  const { openStore } = await import('../../store/open.ts');
  const store = await openStore({
    databaseURL,
    role: 'command',
    create,
    onFatal: (error) => {
      throw error;
    },
  });
  try {
    return await work(store);
  } catch (error) {
    throw withCause(error, databaseURL);
  } finally {
    await store.close();
  }
};

/**
 * Returns the internal number of the account in `--account`; undefined without the flag. Throws if the account does not
 * exist.
 */
export const findAccountNumber = async (
  store: Store,
  { account: accountUUID }: { readonly account?: string },
): Promise<number | undefined> => {
  if (accountUUID === undefined) return undefined;
  const account = await store.findAccount(accountUUID);
  if (account === undefined) throw new Error(`there is no account ${accountUUID}`);
  return account;
};

export type AccountOptions = DatabaseOptions & { readonly account?: string };

/**
 * Returns the account in `--account`, or the only account. Throws UsageError if there is no account, or if there are
 * several and the flag is missing.
 */
export const chooseAccount = async (store: Store, options: AccountOptions): Promise<AccountSummary> => {
  const accounts = await store.listAccounts();
  const number = await findAccountNumber(store, options);
  const account =
    number === undefined && accounts.length === 1 ? accounts[0] : accounts.find((each) => each.account === number);
  if (account !== undefined) return account;
  throw new UsageError(
    accounts.length === 0
      ? 'there is no account yet: create one with firsthand account create'
      : '--account is required, because there are several accounts: list them with firsthand account list',
  );
};

/** The command line as a caller, with operator rights: its user can open the database anyway. */
export const asOperator = (): Caller => ({
  access: {
    token: commandLine,
    tokenID: '',
    kind: 'operator',
    account: null,
    ...withoutAccountSettings,
  },
  tokenUUID: '',
  time: Date.now(),
});
