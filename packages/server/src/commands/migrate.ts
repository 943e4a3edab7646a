import type { Command } from 'commander';
import { formatCount } from '../shared/format-count.ts';
import { type DatabaseOptions, toDatabaseURL } from './shared/database.ts';
import { addSettings } from './shared/flags.ts';
import { printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addSettings(command, ['databaseURL'])
    .option(
      '--citus',
      'experimental: distribute the tables over a Citus cluster; tested on a cluster of three nodes, and not used in production yet',
    )
    .option('--citus-without-workers', 'the same, even if no worker is registered')
    .action(migrate);
};

interface MigrateOptions extends DatabaseOptions {
  readonly citus?: boolean;
  readonly citusWithoutWorkers?: boolean;
}

const migrate = async (options: MigrateOptions): Promise<void> => {
  const { migrateStore } = await import('../store/open.ts');
  const withoutWorkers = options.citusWithoutWorkers === true;
  const citus = withoutWorkers || options.citus === true;
  const distribution = await migrateStore(toDatabaseURL(options), { citus, withoutWorkers });
  printLine('The schema is up to date.');
  if (!distribution) return;
  const { tables, workers } = distribution;
  const over = `over ${formatCount(workers, 'worker')}`;
  printLine(
    tables.length === 0
      ? `All tables were already distributed ${over}.`
      : `Distributed ${formatCount(tables.length, 'table')} ${over}: ${tables.join(', ')}.`,
  );
};
