import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { addDatabase, databaseURLOf } from './shared/database.ts';
import { jsonFlag } from './shared/flags.ts';
import { printJSON, printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command)
    .argument('<file>', 'where the copy goes; it must not exist')
    .option(...jsonFlag)
    .action(backup);
};

const backup = async (file: string, options: Record<string, unknown>): Promise<void> => {
  const { backupStore } = await import('../store/open.ts');
  await backupStore(databaseURLOf(options), file);
  const { size } = statSync(file);
  if (options.json) return printJSON({ file, bytes: size });
  printLine(`${file} is a whole copy of the database: ${size} bytes`);
};
