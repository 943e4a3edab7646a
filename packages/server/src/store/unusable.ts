/** The database cannot be served: it belongs to another program or a newer version, is damaged, or is in use. It is unchanged. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}
