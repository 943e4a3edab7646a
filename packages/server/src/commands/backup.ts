import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { addDatabase, type DatabaseOptions, databaseURLOf } from './shared/database.ts';
import { printJSON, printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command).argument('<file>', 'the file to copy to; it must not exist').action(backup);
};

const backup = async (file: string, options: DatabaseOptions): Promise<void> => {
  const { backupStore } = await import('../store/open.ts');
  await backupStore(databaseURLOf(options), file);
  const { size } = statSync(file);
  if (options.json) return printJSON({ file, bytes: size });
  printLine(`${file} is a whole copy of the database: ${size} bytes`);
};
