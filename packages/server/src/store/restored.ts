/** The result of `firsthand restore`. */
export interface Restored {
  /** The path of the restored database. */
  readonly file: string;
  readonly bytes: number;
  /** The path to which the previous database was moved; null: there was none. */
  readonly previous: string | null;
  /** The number of identifiers in the erasure record. A server repeats these erasures before it serves. */
  readonly erasedIdentifiers: number;
  /** The user ID to which root gave the files; null: they belong to the user who ran the command. */
  readonly owner: number | null;
}
