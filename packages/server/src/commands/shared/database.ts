/** Opens the database for a command that works on it directly, whether or not a server is running. */
import type { Command } from 'commander';
import { type Caller, commandLine } from '../../http/access/caller.ts';
import type { Store } from '../../store/store.ts';
import { WrongUsage } from './command-errors.ts';
import { addSettings, settingsOf } from './flags.ts';

export const addDatabase = (command: Command): Command => addSettings(command, ['databaseURL']);

type Options = Readonly<Record<string, unknown>>;

/** The URL of the database. Throws WrongUsage for one in memory, which ends with its server. */
export const databaseURLOf = (options: Options): string => {
  const { databaseURL } = settingsOf(['databaseURL'], options);
  if (databaseURL !== 'sqlite::memory:') return databaseURL;
  throw new WrongUsage('DATABASE_URL names a database in memory, which ends with the server that has it');
};

/** Runs `work` on the store, beside a server that may be running. The database is created only with `create`. */
export const withStore = async <Result>(
  options: Options,
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
  } finally {
    await store.close();
  }
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
  },
  tokenUUID: '',
  time: Date.now(),
});
