/** Merges of contacts: reads as many of them as the rules in identity/ need, makes them and undoes them. */
import { mergedWith, wouldCycle } from '../../../identity/merges.ts';
import { Refusal } from '../../../refusal.ts';
import type { RequestOf } from '../calls.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { pointersOf, readAnswering, readChains } from './contact-rows.ts';

/** Returns all merges into these contacts, direct or not, by merged contact. Each query follows one step of all chains. */
const pointersTo = async (db: Connection, contacts: readonly number[]): Promise<Map<number, number>> => {
  const pointers = new Map<number, number>();
  for (let at = contacts; at.length > 0; ) {
    const rows = await db.all<{ contact: number; other: number }>(
      'SELECT contact, other FROM merged_contact WHERE contact = ANY ($1::bigint[])',
      [at],
    );
    at = rows.map(({ other }) => other).filter((other) => !pointers.has(other));
    for (const { contact, other } of rows) pointers.set(other, contact);
  }
  return pointers;
};

/** Returns, for each contact, the contact itself first, then all contacts merged into it. `kept` must not be merged themselves. */
export const groupsOf = async (db: Connection, kept: readonly number[]): Promise<number[][]> => {
  const pointers = await pointersTo(db, kept);
  return kept.map((contact) => [contact, ...mergedWith(pointers, contact).filter((other) => other !== contact)]);
};

/** Returns all contacts that are merged with this one; first the one at the end of its merges. */
export const groupOf = async (db: Connection, contact: number): Promise<number[]> => {
  // Reads the group in parallel, since most contacts are not merged.
  const [{ contact: answering }, [group]] = await Promise.all([readAnswering(db, contact), groupsOf(db, [contact])]);
  return (answering === contact ? group : (await groupsOf(db, [answering]))[0]) as number[];
};

/** These writes must run alone (`writeAlone`), so that no other merge happens between their reads and their writes. */
export const createMergeWriter = (contacts: ContactFinder) => {
  const setMerged = (db: Connection, contact: number, mergedInto: number | null, time: number | null) =>
    db.run('UPDATE contact SET "mergedInto" = $2, "mergedTime" = $3 WHERE contact = $1', [contact, mergedInto, time]);

  const findOther = async (db: Connection, account: number, otherContactUUID: string) => {
    const other = await contacts.byUUID(db, account, otherContactUUID);
    if (!other) throw await contacts.missing(db, account, otherContactUUID, 'otherContactUUID');
    return other;
  };

  return {
    async mergeContact(
      db: Transaction,
      { account, contactUUID, otherContactUUID, time }: RequestOf<'mergeContact'>,
    ): Promise<{ contactUUID: string; mergedTime: number }> {
      const keep = await contacts.byName(db, { account, contactUUID });
      const other = await findOther(db, account, otherContactUUID);
      if (other.mergedInto === keep.contact) {
        return {
          contactUUID: (await readAnswering(db, keep.contact)).contactUUID,
          mergedTime: other.mergedTime as number,
        };
      }
      if (other.mergedInto !== null) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: '`otherContactUUID` is merged into another contact already; unmerge it first',
        });
      }
      if (wouldCycle(pointersOf(await readChains(db, [keep.contact])), keep.contact, other.contact)) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: 'the merge would make a circle: `contactUUID` is `otherContactUUID`, or is merged into it',
        });
      }
      await setMerged(db, other.contact, keep.contact, time);
      await db.run('INSERT INTO merged_contact (contact, other) VALUES ($1, $2)', [keep.contact, other.contact]);
      return { contactUUID: (await readAnswering(db, keep.contact)).contactUUID, mergedTime: time };
    },

    async unmergeContact(
      db: Transaction,
      { account, otherContactUUID }: RequestOf<'unmergeContact'>,
    ): Promise<{ contactUUID: string }> {
      const other = await findOther(db, account, otherContactUUID);
      if (other.mergedInto === null) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: '`otherContactUUID` is not merged into any contact',
        });
      }
      await setMerged(db, other.contact, null, null);
      await db.run('DELETE FROM merged_contact WHERE contact = $1 AND other = $2', [other.mergedInto, other.contact]);
      return { contactUUID: other.contactUUID };
    },
  };
};
