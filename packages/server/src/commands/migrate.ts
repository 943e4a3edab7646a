import type { Command } from 'commander';
import { type DatabaseOptions, databaseURLOf } from './shared/database.ts';
import { addSettings } from './shared/flags.ts';
import { printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addSettings(command, ['databaseURL'])
    .option(
      '--citus',
      'experimental: spread its tables over a Citus cluster, which refuses some of them; do not use it yet',
    )
    .action(migrate);
};

const migrate = async (options: DatabaseOptions & { readonly citus?: boolean }): Promise<void> => {
  const { migrateStore } = await import('../store/open.ts');
  await migrateStore(databaseURLOf(options), { citus: options.citus === true });
  printLine('The schema is up to date.');
  if (options.citus)
    printLine(
      'The tables are spread over the Citus cluster. On Citus 13.2 most operations then fail: do not serve this database.',
    );
};
