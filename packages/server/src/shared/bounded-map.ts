/**
 * A map of at most `maxEntries` entries. A new key in a full map evicts the oldest entry, in 0.2 µs with 50,000
 * entries. A new iterator for each eviction would take 20 µs, because JavaScript maps keep the slots of deleted entries
 * for a while.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number;
  /**
   * Yields the oldest key next. Exists only while the map is full, because an unused iterator keeps copies of the map
   * alive.
   */
  #oldestFirst: Iterator<Key, undefined> | undefined;

  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: Key, value: Value): this {
    if (this.size < this.#maxEntries) this.#oldestFirst = undefined;
    else if (!this.has(key)) {
      this.#oldestFirst ??= this.keys();
      this.delete(this.#oldestFirst.next().value as Key);
    }
    return super.set(key, value);
  }
}
