/** What `firsthand restore` did. */
export interface Restored {
  /** The file that now holds the backup. */
  readonly file: string;
  readonly bytes: number;
  /** Where the previous database is kept; null when there was none. */
  readonly previous: string | null;
  /** How many erased identifiers the record of erasures holds. A server erases them again before it answers. */
  readonly erasedIdentifiers: number;
  /** The ID of the user to whom root has given the files; null when they belong to the user who restores. */
  readonly owner: number | null;
}
