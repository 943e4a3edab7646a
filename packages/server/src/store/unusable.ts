/**
 * The database cannot be used: it belongs to another program, was written by a newer version, is damaged, or is locked.
 * It is unchanged.
 */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}
