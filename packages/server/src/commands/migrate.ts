import type { Command } from 'commander';
import { addDatabase, databaseURLOf } from './database.ts';
import { printLine } from './printing.ts';

export const define = (command: Command): void => {
  addDatabase(command).option('--citus', 'spread its tables over the machines of a Citus cluster').action(migrate);
};

const migrate = async (options: { readonly citus?: boolean } & Record<string, unknown>): Promise<void> => {
  const { migrateStore } = await import('../store/open.ts');
  await migrateStore(databaseURLOf(options), { citus: options.citus === true });
  printLine(options.citus ? 'The schema is up to date, and spread.' : 'The schema is up to date.');
};
