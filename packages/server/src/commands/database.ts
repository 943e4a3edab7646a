/** The database that a command works on directly, with or without a server running. */
import type { Command } from 'commander';
import { type Caller, commandLine } from '../http/caller.ts';
import type { Store } from '../store/store.ts';
import { WrongUsage } from './failing.ts';
import { addSettings, settingsOf } from './flags.ts';

export const addDatabase = (command: Command): Command => addSettings(command, ['databaseURL']);

type Options = Readonly<Record<string, unknown>>;

/** Of a database that outlives its server. */
export const databaseURLOf = (options: Options): string => {
  const { databaseURL } = settingsOf(['databaseURL'], options);
  if (databaseURL !== 'sqlite::memory:') return databaseURL;
  throw new WrongUsage('DATABASE_URL names a database in memory, which ends with the server that has it');
};

/** Does something with the store, next to a server that may be running; only with `create` is one made. */
export const withStore = async <Result>(
  options: Options,
  work: (store: Store) => Promise<Result>,
  { create = false } = {},
): Promise<Result> => {
  const databaseURL = databaseURLOf(options);
  const { openStore } = await import('../store/open.ts');
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

/** Whoever can open the database may do with it what an operator may. */
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
