/** What the backups of a database in a folder are to those outside its driver. */

/** A backup that was made in a folder. */
export interface FolderBackup {
  readonly file: string;
  readonly bytes: number;
  /** How many older backups were removed. */
  readonly removed: number;
}

/** Where a backup is made before the schema of a database changes. */
export interface UpdateBackup {
  /** The folder `backups` beside the database if undefined. */
  readonly folder?: string | undefined;
  /** How many backups of the database stay in the folder. */
  readonly keep?: number | undefined;
  readonly onMade?: (backup: FolderBackup) => void;
}

export interface Backups {
  /** All verified backups of the database in the folder, the newest first. `time` is in milliseconds since 1970. */
  list(): readonly { readonly file: string; readonly time: number }[];
  /** Removes what processes have left that were killed while they made one; nothing while a process makes one. */
  removeDrafts(): void;
}
