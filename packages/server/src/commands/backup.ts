import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { WrongUsage } from './shared/command-errors.ts';
import { addDatabase, type DatabaseOptions, databaseURLOf } from './shared/database.ts';
import { addSettings, settingsOf } from './shared/flags.ts';
import { printJSON, printLine } from './shared/printing.ts';

const folderSettings = ['backupDir', 'backupKeep'] as const;

export const define = (command: Command): void => {
  addSettings(addDatabase(command), folderSettings)
    .argument('[file]', 'the file to copy to; it must not exist. Without it, the backup is made in BACKUP_DIR')
    .action(backup);
};

const backup = async (file: string | undefined, options: DatabaseOptions): Promise<void> => {
  if (file === undefined) return backUpIntoFolder(options);
  const { backupStore } = await import('../store/open.ts');
  await backupStore(databaseURLOf(options), file);
  const { size } = statSync(file);
  if (options.json) return printJSON({ file, bytes: size });
  printLine(`${file} is a whole copy of the database: ${size} bytes`);
};

/** What a server with BACKUP_DIR runs, too. */
const backUpIntoFolder = async (options: DatabaseOptions): Promise<void> => {
  const { backupDir, backupKeep } = settingsOf(folderSettings, options as Readonly<Record<string, unknown>>);
  if (backupDir === undefined) throw new WrongUsage('give the file to copy to, or set BACKUP_DIR');
  const { backupStoreInto } = await import('../store/open.ts');
  const made = await backupStoreInto(databaseURLOf(options), backupDir, backupKeep);
  if (options.json) return printJSON(made);
  printLine(
    `${made.file} is a whole copy of the database: ${made.bytes} bytes, verified; older ones removed: ${made.removed}`,
  );
};
