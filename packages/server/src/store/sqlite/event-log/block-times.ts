/** Packs the offset and time range of each block of a segment into 12 bytes, little-endian. */

/** `offset` is the block's `through` minus the segment's `after`. The times are the earliest and latest eventTime. */
export interface BlockTimes {
  readonly offset: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

const bytesPerBlock = 12;
const minuteMilliseconds = 60_000;

/** Returns whole minutes since 1970, clamped to 32 bits (4,000 years). */
const toMinute = (time: number): number =>
  Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.floor(time / minuteMilliseconds)));

export const toBytes = (blocks: readonly BlockTimes[]): Buffer => {
  const bytes = Buffer.allocUnsafe(blocks.length * bytesPerBlock);
  blocks.forEach(({ offset, firstTime, lastTime }, nth) => {
    const at = nth * bytesPerBlock;
    bytes.writeUInt32LE(offset, at);
    bytes.writeInt32LE(toMinute(firstTime), at + 4);
    bytes.writeInt32LE(toMinute(lastTime), at + 8);
  });
  return bytes;
};

/**
 * Returns the offsets of the blocks that may have an event with from ≤ eventTime < to and for which `isOpen` returns
 * true, ascending.
 */
export const offsetsBetween = (
  bytes: Buffer,
  { from = -Infinity, to = Infinity }: { readonly from?: number | undefined; readonly to?: number | undefined },
  isOpen: (nth: number) => boolean,
): number[] => {
  const offsets: number[] = [];
  const first = toMinute(from);
  const last = toMinute(to);
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let nth = 0; nth * bytesPerBlock < bytes.length; nth += 1) {
    if (!isOpen(nth)) continue;
    const at = nth * bytesPerBlock;
    if (numbers.getInt32(at + 8, true) >= first && numbers.getInt32(at + 4, true) <= last) {
      offsets.push(numbers.getUint32(at, true));
    }
  }
  return offsets;
};
