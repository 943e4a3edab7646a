/**
 * The database cannot be used because it is another program's, was written by a newer version, is damaged, or is
 * locked. It is unchanged.
 */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}
