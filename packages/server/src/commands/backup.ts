import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { UsageError } from './shared/command-errors.ts';
import { addDatabase, type DatabaseOptions, toDatabaseURL } from './shared/database.ts';
import { addSettings, toSettings } from './shared/flags.ts';
import { printJSON, printLine } from './shared/printing.ts';

const folderSettings = ['backupDir', 'backupKeep'] as const;

export const define = (command: Command): void => {
  addSettings(addDatabase(command), folderSettings)
    .argument('[file]', 'the file to create, which must not exist yet; by default, a new file in BACKUP_DIR')
    .action(backup);
};

const backup = async (file: string | undefined, options: DatabaseOptions): Promise<void> => {
  if (file === undefined) return backUpIntoFolder(options);
  const { backupStore } = await import('../store/open.ts');
  await backupStore(toDatabaseURL(options), file);
  const { size } = statSync(file);
  if (options.json) return printJSON({ file, bytes: size });
  printLine(`Backed up the database to ${file}: ${size} bytes`);
};

/** A server with BACKUP_DIR also runs this command. */
const backUpIntoFolder = async (options: DatabaseOptions): Promise<void> => {
  const { backupDir, backupKeep } = toSettings(folderSettings, options as Readonly<Record<string, unknown>>);
  if (backupDir === undefined) throw new UsageError('name a file for the backup, or set BACKUP_DIR');
  const { backupStoreInto } = await import('../store/open.ts');
  const backup = await backupStoreInto(toDatabaseURL(options), backupDir, backupKeep);
  if (options.json) return printJSON(backup);
  printLine(
    `Backed up the database to ${backup.file}: ${backup.bytes} bytes, verified; older backups removed: ${backup.removed}`,
  );
};
