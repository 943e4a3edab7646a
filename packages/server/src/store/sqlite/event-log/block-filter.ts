/** Finds a segment's blocks that may have matching events, using the segment's summary. */

import type { Connection } from '../database/connection.ts';
import { offsetsBetween } from './block-times.ts';
import { createAttributeHash, visitSlices } from './bloom-filter.ts';

/** Conditions on an event, other than its owner. */
export interface EventFilter {
  readonly account: number;
  /** from ≤ eventTime < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Matches events with at least one of these attributes. */
  readonly attrIDs?: readonly string[] | undefined;
  readonly attrValue?: string | undefined;
}

/** Returns the attribute hash function, keyed with the database's secret. */
export const attributeHashOf = (db: Connection) =>
  createAttributeHash(db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer);

export const createBlockFilter = (db: Connection) => {
  const hashOf = attributeHashOf(db);
  const summary = db.prepare<[number], { slices: number; blocks: Buffer }>(
    'SELECT slices, blocks FROM segment_summary WHERE segment = ?',
  );
  const slice = db
    .prepare<[number, number], Buffer>('SELECT blocks FROM segment_slice WHERE segment = ? AND slice = ?')
    .pluck();

  /** Returns the bitmap of the blocks that have all bits of a hash; undefined if no block has them. */
  const bitsOf = (segment: number, hash: number, slices: number): Buffer | undefined => {
    const bitmaps: (Buffer | undefined)[] = [];
    visitSlices(hash, slices, (nth) => bitmaps.push(slice.get(segment, nth)));
    return bitmaps.reduce(
      (bits, next) => bits && next && (bits.map((byte, at) => byte & (next[at] as number)) as Buffer),
    );
  };

  /**
   * Returns the distances (`through` minus the segment's `after`) of the blocks that may have a matching event,
   * ascending; undefined if the segment has no summary. Some of these blocks may have been deleted.
   */
  return (segment: number, { account, attrIDs, attrValue, ...times }: EventFilter): readonly number[] | undefined => {
    const row = summary.get(segment);
    if (!row) return undefined;
    if (attrIDs === undefined) return offsetsBetween(row.blocks, times, () => true);
    const ofEach = attrIDs.flatMap((attrID) => bitsOf(segment, hashOf(account, attrID, attrValue), row.slices) ?? []);
    if (ofEach.length === 0) return [];
    return offsetsBetween(row.blocks, times, (nth) =>
      ofEach.some((bits) => (((bits[nth >>> 3] as number) >>> (nth & 7)) & 1) === 1),
    );
  };
};
