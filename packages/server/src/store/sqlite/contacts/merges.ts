/** Merges contacts, and takes merges back. */
import { wouldCycle } from '../../../identity/merges.ts';
import { Refusal } from '../../../refusal.ts';
import type { RequestOf } from '../calls.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactFinder } from './contact-finder.ts';
import { type ContactRow, createMergeReader } from './contact-rows.ts';

export const createMergeWriter = (db: Connection, contacts: ContactFinder) => {
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
