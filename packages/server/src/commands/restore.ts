import type { Command } from 'commander';
import { addDatabase, type DatabaseOptions, databaseURLOf } from './shared/database.ts';
import { printJSON, printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command).argument('<backup>', 'a file that firsthand backup or BACKUP_DIR has made').action(restore);
};

const restore = async (backup: string, options: DatabaseOptions): Promise<void> => {
  const { restoreStore } = await import('../store/open.ts');
  const restored = await restoreStore(databaseURLOf(options), backup);
  if (options.json) return printJSON(restored);
  const { file, bytes, previous, erasedIdentifiers, owner } = restored;
  printLine([
    `${file} is now the backup ${backup}: ${bytes} bytes, whole`,
    ...(previous === null
      ? []
      : [`The previous database is ${previous}. Delete it when nobody needs it: it holds personal data.`]),
    ...(owner === null ? [] : [`Its files belong to user ${owner}, as the file before it or its folder does.`]),
    `Identifiers in the record of erasures: ${erasedIdentifiers}. The server erases them again before it answers.`,
  ]);
};
