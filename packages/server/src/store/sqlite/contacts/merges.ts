/** Merges contacts, and takes merges back. */
import { checkMerge, checkUnmerge } from '../../rules/merges.ts';
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactFinder } from './contact-finder.ts';
import { createMergeReader } from './contact-rows.ts';

export const createMergeWriter = (db: Connection, contacts: ContactFinder) => {
  const merges = createMergeReader(db);
  const setMerged = db.prepare('UPDATE contact SET mergedInto = ?, mergedTime = ? WHERE contact = ?');

  const findOther = (account: number, otherContactUUID: string) => {
    const other = contacts.byUUID(account, otherContactUUID);
    if (!other) throw contacts.missing(account, otherContactUUID, 'otherContactUUID');
    return other;
  };

  return {
    mergeContact({ account, contactUUID, otherContactUUID, time }: RequestOf<'mergeContact'>) {
      const keep = contacts.byName({ account, contactUUID });
      const other = findOther(account, otherContactUUID);
      const isMerged = other.mergedInto === keep.contact;
      if (!isMerged) {
        checkMerge(merges.from(keep.contact), keep, other);
        setMerged.run(keep.contact, time, other.contact);
      }
      const mergedTime = isMerged ? (other.mergedTime as number) : time;
      return { contactUUID: contacts.answering(keep.contact).contactUUID, mergedTime };
    },

    unmergeContact({ account, otherContactUUID }: RequestOf<'unmergeContact'>) {
      const other = findOther(account, otherContactUUID);
      checkUnmerge(other);
      setMerged.run(null, null, other.contact);
      return { contactUUID: other.contactUUID };
    },
  };
};
