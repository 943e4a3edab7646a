/** The database cannot be used: another program's, written by a newer version, damaged, or locked. It is unchanged. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}
