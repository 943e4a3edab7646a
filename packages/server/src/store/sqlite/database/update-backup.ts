/** Backs up a database before a newer version migrates it. Older versions cannot open it afterwards. */
import { dirname, join } from 'node:path';
import type { UpdateBackup } from '../../scheduled-backups.ts';
import { StoreUnusable } from '../../unusable.ts';
import { backupIntoFolder } from './backup.ts';

/** The number of backups to keep next to the database, for operators without BACKUP_DIR. */
const defaultKeep = 2;

/** Makes a verified backup. Throws StoreUnusable on failure; the caller must then not migrate. */
export const backUpBeforeUpdate = (path: string, { folder, keep = defaultKeep, onMade }: UpdateBackup = {}): void => {
  const target = folder ?? join(dirname(path), 'backups');
  try {
    onMade?.(backupIntoFolder(path, target, keep));
  } catch (cause) {
    throw new StoreUnusable(
      `this version changes the schema of ${path}, but could not make a backup first: ${(cause as Error).message}. The database is ` +
        'unchanged. Free disk space, or set BACKUP_DIR to a folder on another disk',
      { cause },
    );
  }
};
