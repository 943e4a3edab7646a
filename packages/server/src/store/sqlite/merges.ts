/** Which contact answers for which: the pointers, loaded as far as the rules in identity/ need them. */
import { followMerges, mergedWith, wouldCycle } from '../../identity/merges.ts';
import { Refusal } from '../../refusal.ts';
import type { RequestOf } from './calls.ts';
import type { Connection } from './connection.ts';
import type { ContactRow } from './contact-finder.ts';
import type { ContactWriter } from './contacts.ts';

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

export const createMergeWriter = (db: Connection, contacts: ContactWriter) => {
  const merges = createMergeReader(db);
  const setMerged = db.prepare('UPDATE contact SET mergedInto = ?, mergedTime = ? WHERE contact = ?');
  const answeringUUID = (contact: number) => (contacts.get(merges.follow(contact)) as ContactRow).contactUUID;

  return {
    mergeContact({ account, contactUUID, otherContactUUID, time }: RequestOf<'mergeContact'>) {
      const keep = contacts.byName({ account, contactUUID });
      const other = contacts.byUUID(account, otherContactUUID);
      if (!other) throw contacts.missing(account, otherContactUUID, 'otherContactUUID');
      if (other.mergedInto === keep.contact) {
        return { contactUUID: answeringUUID(keep.contact), mergedTime: other.mergedTime as number };
      }
      if (other.mergedInto !== null) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: '`otherContactUUID` is merged into another contact already; unmerge it first',
        });
      }
      if (wouldCycle(merges.from(keep.contact), keep.contact, other.contact)) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: 'the merge would make a circle: `contactUUID` is `otherContactUUID`, or is merged into it',
        });
      }
      setMerged.run(keep.contact, time, other.contact);
      return { contactUUID: answeringUUID(keep.contact), mergedTime: time };
    },

    unmergeContact({ account, otherContactUUID }: RequestOf<'unmergeContact'>) {
      const other = contacts.byUUID(account, otherContactUUID);
      if (!other) throw contacts.missing(account, otherContactUUID, 'otherContactUUID');
      if (other.mergedInto === null) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: '`otherContactUUID` is not merged into any contact',
        });
      }
      setMerged.run(null, null, other.contact);
      return { contactUUID: other.contactUUID };
    },
  };
};
