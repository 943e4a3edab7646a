/** Finds the blocks of a segment that may hold matching events, from the segment's summary. */

import type { Connection } from '../database/connection.ts';
import { placesBetween } from './block-times.ts';
import { createAttributeHash, visitSlices } from './bloom-filter.ts';

/** Conditions on an event, apart from its owner. */
export interface EventFilter {
  readonly account: number;
  /** from <= eventTime < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The event has at least one of these attributes. */
  readonly attrIDs?: readonly string[] | undefined;
  readonly attrValue?: string | undefined;
}

/** The hash of attributes, keyed with the secret of the database. */
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

  /** The bitmap of the blocks that have all bits of a hash; undefined when no block has them. */
  const bitsOf = (segment: number, hash: number, slices: number): Buffer | undefined => {
    const found: (Buffer | undefined)[] = [];
    visitSlices(hash, slices, (nth) => found.push(slice.get(segment, nth)));
    return found.reduce(
      (bits, next) => bits && next && (bits.map((byte, at) => byte & (next[at] as number)) as Buffer),
    );
  };

  /**
   * Returns the distances of the blocks that may hold a matching event from the beginning of the segment (`through` minus the
   * segment's `after`), ascending. Returns undefined when the segment has no summary. A returned block may have been deleted.
   */
  return (segment: number, { account, attrIDs, attrValue, ...times }: EventFilter): readonly number[] | undefined => {
    const found = summary.get(segment);
    if (!found) return undefined;
    if (attrIDs === undefined) return placesBetween(found.blocks, times, () => true);
    const ofEach = attrIDs.flatMap((attrID) => bitsOf(segment, hashOf(account, attrID, attrValue), found.slices) ?? []);
    if (ofEach.length === 0) return [];
    return placesBetween(found.blocks, times, (nth) =>
      ofEach.some((bits) => (((bits[nth >>> 3] as number) >>> (nth & 7)) & 1) === 1),
    );
  };
};
