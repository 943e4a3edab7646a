/** A database that cannot be served: it is another program's, newer than this one, damaged, or in use. Nothing was changed. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}
