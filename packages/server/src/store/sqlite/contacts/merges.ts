/** Merges and unmerges contacts. */
import { checkMerge, checkUnmerge } from '../../rules/merges.ts';
import type { NamedOther, RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactFinder } from './contact-finder.ts';
import { createMergeReader } from './contact-rows.ts';

export const createMergeWriter = (db: Connection, contacts: ContactFinder) => {
  const merges = createMergeReader(db);
  const setMerged = db.prepare('UPDATE contact SET mergedInto = ?, mergedTime = ? WHERE contact = ?');

  const findOther = (account: number, { otherContactUUID, otherExternalID, otherAddress }: NamedOther) => {
    const names = { account, contactUUID: otherContactUUID, externalID: otherExternalID, address: otherAddress };
    return contacts.byName(names, 'otherContact');
  };

  return {
    mergeContact({ time, ...names }: RequestOf<'mergeContact'>) {
      const keep = contacts.byName(names);
      const other = findOther(names.account, names);
      const isMerged = other.mergedInto === keep.contact;
      if (!isMerged) {
        checkMerge(merges.from(keep.contact), keep, other);
        setMerged.run(keep.contact, time, other.contact);
      }
      const mergedTime = isMerged ? (other.mergedTime as number) : time;
      const { contactUUID } = contacts.followMerges(keep.contact);
      return { contactUUID, otherContactUUID: other.contactUUID, mergedTime };
    },

    unmergeContact({ account, ...names }: RequestOf<'unmergeContact'>) {
      const other = findOther(account, names);
      checkUnmerge(other);
      setMerged.run(null, null, other.contact);
      return { contactUUID: other.contactUUID };
    },
  };
};
