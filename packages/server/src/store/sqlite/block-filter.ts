/** Which blocks of a segment may hold what is sought, by what is summed up of them. */
import { placesBetween } from './block-times.ts';
import type { Connection } from './connection.ts';
import { createAttributeHasher, visitSlices } from './signature.ts';

/** What an event must have, whoever's it is. */
export interface EventFilter {
  readonly account: number;
  /** from <= eventTime < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
}

/** The key of the hashes of attributes: the database's own. */
export const hasherOf = (db: Connection) =>
  createAttributeHasher(db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer);

export const createBlockFilter = (db: Connection) => {
  const hasher = hasherOf(db);
  const summary = db.prepare<[number], { slices: number; blocks: Buffer }>(
    'SELECT slices, blocks FROM segment_summary WHERE segment = ?',
  );
  const slice = db
    .prepare<[number, number], Buffer>('SELECT blocks FROM segment_slice WHERE segment = ? AND slice = ?')
    .pluck();

  /** The bits of the blocks that have all bits of a hash; undefined when no block has. */
  const bitsOf = (segment: number, hash: number, slices: number): Buffer | undefined => {
    const found: (Buffer | undefined)[] = [];
    visitSlices(hash, slices, (nth) => found.push(slice.get(segment, nth)));
    return found.reduce(
      (bits, next) => bits && next && (bits.map((byte, at) => byte & (next[at] as number)) as Buffer),
    );
  };

  /**
   * How far the throughs of the blocks that may hold such an event are after the segment's beginning, ascending; undefined
   * when nothing is summed up of the segment. A block that is gone may be one of them.
   */
  return (segment: number, { account, attrID, attrValue, ...times }: EventFilter): readonly number[] | undefined => {
    const found = summary.get(segment);
    if (!found) return undefined;
    if (attrID === undefined) return placesBetween(found.blocks, times, () => true);
    const bits = bitsOf(segment, hasher.of(account, { attrID, attrValue }), found.slices);
    if (!bits) return [];
    return placesBetween(found.blocks, times, (nth) => (((bits[nth >>> 3] as number) >>> (nth & 7)) & 1) === 1);
  };
};
