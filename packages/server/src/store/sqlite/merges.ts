/** Which contact answers for which: the pointers, loaded as far as the rules in identity/ need them. */
import { followMerges, mergedWith } from '../../identity/merges.ts';
import type { Connection } from './connection.ts';

export const createMergeReader = (db: Connection) => {
  const upwards = db.prepare<[number], { contact: number; mergedInto: number }>(`
    WITH RECURSIVE chain (contact, mergedInto) AS (
      SELECT contact, mergedInto FROM contact WHERE contact = ?
      UNION
      SELECT c.contact, c.mergedInto FROM chain JOIN contact c ON c.contact = chain.mergedInto
    )
    SELECT contact, mergedInto FROM chain WHERE mergedInto IS NOT NULL`);
  const downwards = db.prepare<[number], { contact: number; mergedInto: number }>(`
    WITH RECURSIVE tree (contact, mergedInto) AS (
      SELECT contact, mergedInto FROM contact WHERE mergedInto = ?
      UNION
      SELECT c.contact, c.mergedInto FROM tree JOIN contact c ON c.mergedInto = tree.contact
    )
    SELECT contact, mergedInto FROM tree`);
  const load = (rows: { contact: number; mergedInto: number }[]) =>
    new Map(rows.map(({ contact, mergedInto }) => [contact, mergedInto]));

  return {
    /** The pointers from a contact on. */
    from: (contact: number) => load(upwards.all(contact)),
    /** The contact that answers for this one now. */
    follow: (contact: number): number => followMerges(load(upwards.all(contact)))(contact),
    /** The contact that answers, first, and all that it answers for. */
    group: (contact: number): number[] => {
      const kept = followMerges(load(upwards.all(contact)))(contact);
      return [kept, ...mergedWith(load(downwards.all(kept)), kept).filter((other) => other !== kept)];
    },
  };
};
export type MergeReader = ReturnType<typeof createMergeReader>;
