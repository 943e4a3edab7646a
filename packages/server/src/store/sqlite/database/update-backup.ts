/** The backup of a database that a newer version of the program is about to migrate. An older version does not open it afterwards. */
import { dirname, join } from 'node:path';
import type { UpdateBackup } from '../../scheduled-backups.ts';
import { StoreUnusable } from '../../unusable.ts';
import { backupIntoFolder } from './backup.ts';

/** How many backups stay in the folder beside the database, for operators without BACKUP_DIR. */
const defaultKeep = 2;

/** Makes a verified backup. Throws StoreUnusable when that fails: the database must not be migrated then. */
export const backUpBeforeUpdate = (path: string, { folder, keep = defaultKeep, onMade }: UpdateBackup = {}): void => {
  const target = folder ?? join(dirname(path), 'backups');
  try {
    onMade?.(backupIntoFolder(path, target, keep));
  } catch (cause) {
    throw new StoreUnusable(
      `this version changes the schema of ${path}, and could not make a backup before: ${(cause as Error).message}. The database is ` +
        'unchanged. Make room, or set BACKUP_DIR to a folder that has it',
      { cause },
    );
  }
};
