/** The beginning of a record whose end is in a later chunk. At most `max` bytes are in memory. */
export const createPendingBytes = (max: number) => {
  let parts: Uint8Array[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(bytes: Uint8Array): void {
      size += bytes.length;
      if (size > max) parts = [];
      // Copied, because the source may reuse the memory.
      else if (bytes.length > 0) parts.push(bytes.slice());
    },
    /** Returns the record and begins the next one. Returns undefined if the record is larger than `max`. */
    take(end: Uint8Array): Uint8Array | undefined {
      const total = size + end.length;
      const all = [...parts, end];
      parts = [];
      size = 0;
      if (total > max) return undefined;
      if (all.length === 1) return end;
      const bytes = new Uint8Array(total);
      let offset = 0;
      for (const part of all) {
        bytes.set(part, offset);
        offset += part.length;
      }
      return bytes;
    },
  };
};
