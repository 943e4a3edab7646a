/** Opens the database for a command that works on it directly, whether or not a server is running. */
import type { Command } from 'commander';
import { type Caller, commandLine } from '../../http/access/caller.ts';
import type { AccountSummary, Store } from '../../store/store.ts';
import { WrongUsage, withCause } from './command-errors.ts';
import { addSettings, jsonFlag, settingsOf } from './flags.ts';

/** The options of every command with `addDatabase`, by the names that Commander gives them. */
export type DatabaseOptions = { readonly databaseUrl?: string; readonly json?: boolean };

export const addDatabase = (command: Command): Command => addSettings(command, ['databaseURL']).option(...jsonFlag);

/** The URL of the database. Throws WrongUsage for one in memory, which ends with its server. */
export const databaseURLOf = (options: DatabaseOptions): string => {
  const { databaseURL } = settingsOf(['databaseURL'], options);
  if (databaseURL !== 'sqlite::memory:') return databaseURL;
  throw new WrongUsage('DATABASE_URL names a database in memory, which only the server that made it can use');
};

/** Runs `work` on the store, beside a server that may be running. The database is created only with `create`. */
export const withStore = async <Result>(
  options: DatabaseOptions,
  work: (store: Store) => Promise<Result>,
  { create = false } = {},
): Promise<Result> => {
  const databaseURL = databaseURLOf(options);
  const { openStore } = await import('../../store/open.ts');
  const store = await openStore({
    databaseURL,
    role: 'beside',
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

/** The number of the account that `--account` names; undefined if it names none. Throws if there is no such account. */
export const accountOf = async (
  store: Store,
  { account: accountUUID }: { readonly account?: string },
): Promise<number | undefined> => {
  if (accountUUID === undefined) return undefined;
  const account = await store.findAccount(accountUUID);
  if (account === undefined) throw new Error(`there is no account ${accountUUID}`);
  return account;
};

export type AccountOptions = DatabaseOptions & { readonly account?: string };

/** The account that `--account` names, or the only one. Throws WrongUsage if there is none or a choice. */
export const chosenAccount = async (store: Store, options: AccountOptions): Promise<AccountSummary> => {
  const accounts = await store.listAccounts();
  const named = await accountOf(store, options);
  const chosen =
    named === undefined && accounts.length === 1 ? accounts[0] : accounts.find(({ account }) => account === named);
  if (chosen !== undefined) return chosen;
  throw new WrongUsage(
    accounts.length === 0
      ? 'there is no account yet: firsthand account create makes one'
      : '--account is required, because there are several accounts: firsthand account list shows them',
  );
};

/** The command line as a caller. It has the rights of an operator, because its user can open the database anyway. */
export const asOperator = (): Caller => ({
  access: {
    token: commandLine,
    tokenID: '',
    kind: 'operator',
    account: null,
    accountOrigin: [],
    accountTimezone: 'UTC',
    enrich: false,
  },
  tokenUUID: '',
  time: Date.now(),
});
