/** What the backups of a database in a folder are to those outside its driver. */

/** A backup that was made in a folder. */
export interface FolderBackup {
  readonly file: string;
  readonly bytes: number;
  /** How many older backups were removed. */
  readonly removed: number;
}

export interface Backups {
  /** All verified backups of the database in the folder, the newest first. `time` is in milliseconds since 1970. */
  list(): readonly { readonly file: string; readonly time: number }[];
  /** Removes what processes have left that were killed while they made one; nothing while a process makes one. */
  removeDrafts(): void;
}
