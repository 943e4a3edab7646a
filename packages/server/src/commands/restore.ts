import type { Command } from 'commander';
import { addDatabase, type DatabaseOptions, toDatabaseURL } from './shared/database.ts';
import { printJSON, printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command).argument('<backup>', 'a file created by firsthand backup or in BACKUP_DIR').action(restore);
};

const restore = async (backup: string, options: DatabaseOptions): Promise<void> => {
  const { restoreStore } = await import('../store/open.ts');
  const restored = await restoreStore(toDatabaseURL(options), backup);
  if (options.json) return printJSON(restored);
  const { file, bytes, previous, erasedIdentifiers, owner } = restored;
  printLine([
    `Restored ${file} from ${backup}: ${bytes} bytes, verified`,
    ...(previous === null
      ? []
      : [`The previous database is now ${previous}. It contains personal data: delete it when you no longer need it.`]),
    ...(owner === null ? [] : [`Its files belong to user ${owner}, like the replaced file or its folder.`]),
    `Identifiers in the erasure record: ${erasedIdentifiers}. The server erases them again before it accepts requests.`,
  ]);
};
