/** The interface to a folder of SQLite backups. */

export interface FolderBackup {
  readonly file: string;
  readonly bytes: number;
  /** The number of older backups that were removed. */
  readonly removed: number;
}

/** How to make the backup before a schema update. */
export interface UpdateBackup {
  /** The folder; by default, `backups` next to the database. */
  readonly folder?: string | undefined;
  /** The number of this database's backups to keep. */
  readonly keep?: number | undefined;
  readonly onMade?: (backup: FolderBackup) => void;
}

export interface Backups {
  /** Lists the database's verified backups, newest first. */
  list(): readonly { readonly file: string; readonly time: number }[];
  /** Removes the drafts that killed processes left. Does nothing while a backup is running. */
  removeDrafts(): void;
}
