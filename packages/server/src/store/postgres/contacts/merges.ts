/** Reads the merges of contacts that the rules in identity/ need, and creates and undoes merges. */
import { mergedWith } from '../../../identity/merges.ts';
import { checkMerge, checkUnmerge } from '../../rules/merges.ts';
import type { NamedOther, RequestOf } from '../../store.ts';
import type { AccountConnection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { type ContactRow, pointersOf, readAnswering, readChains } from './contact-rows.ts';

/**
 * Returns all merges into these contacts, direct or not, by merged contact. Each query follows one step of all chains.
 */
const pointersTo = async (db: AccountConnection, contacts: readonly number[]): Promise<Map<number, number>> => {
  const pointers = new Map<number, number>();
  for (let at = contacts; at.length > 0; ) {
    const rows = await db.all<{ contact: number; other: number }>(
      'SELECT contact, other FROM merged_contact WHERE account = $1 AND contact = ANY ($2::bigint[])',
      [db.account, at],
    );
    at = rows.map(({ other }) => other).filter((other) => !pointers.has(other));
    for (const { contact, other } of rows) pointers.set(other, contact);
  }
  return pointers;
};

/** Returns each contact, followed by all contacts merged into it. `unmerged` must not be merged themselves. */
export const groupsOf = async (db: AccountConnection, unmerged: readonly number[]): Promise<number[][]> => {
  const pointers = await pointersTo(db, unmerged);
  return unmerged.map((contact) => [contact, ...mergedWith(pointers, contact).filter((other) => other !== contact)]);
};

/** Returns all contacts that are merged with this one, the one at the end of its merges first. */
export const groupOf = async (db: AccountConnection, contact: number): Promise<number[]> => {
  // In parallel, because most contacts are not merged.
  const [{ contact: answering }, [group]] = await Promise.all([readAnswering(db, contact), groupsOf(db, [contact])]);
  return (answering === contact ? group : (await groupsOf(db, [answering]))[0]) as number[];
};

const setMerged = (db: AccountConnection, contact: number, mergedInto: number | null, time: number | null) =>
  db.run('UPDATE contact SET "mergedInto" = $3, "mergedTime" = $4 WHERE account = $1 AND contact = $2', [
    db.account,
    contact,
    mergedInto,
    time,
  ]);

/** Merges the contact `other` into the contact `keep`. Must run exclusively (transaction.ts) and create no cycle. */
export const mergeInto = async (db: Transaction, keep: number, other: number, time: number): Promise<void> => {
  await setMerged(db, other, keep, time);
  await db.run('INSERT INTO merged_contact (account, contact, other) VALUES ($1, $2, $3)', [db.account, keep, other]);
};

/**
 * These writes must run exclusively (transaction.ts), so that no other merge happens between their reads and writes.
 */
export const createMergeWriter = (contacts: ContactFinder) => {
  const findOther = (
    db: AccountConnection,
    { otherContactUUID, otherExternalID, otherAddress }: NamedOther,
  ): Promise<ContactRow> => {
    const named = { contactUUID: otherContactUUID, externalID: otherExternalID, address: otherAddress };
    return contacts.byName(db, named, 'otherContact');
  };

  return {
    async mergeContact(
      db: Transaction,
      { time, ...named }: RequestOf<'mergeContact'>,
    ): Promise<{ contactUUID: string; otherContactUUID: string; mergedTime: number }> {
      const keep = await contacts.byName(db, named);
      const other = await findOther(db, named);
      const isMerged = other.mergedInto === keep.contact;
      if (!isMerged) {
        checkMerge(pointersOf(await readChains(db, [keep.contact])), keep, other);
        await mergeInto(db, keep.contact, other.contact, time);
      }
      const mergedTime = isMerged ? (other.mergedTime as number) : time;
      const { contactUUID } = await contacts.answering(db, keep);
      return { contactUUID, otherContactUUID: other.contactUUID, mergedTime };
    },

    async unmergeContact(db: Transaction, named: RequestOf<'unmergeContact'>): Promise<{ contactUUID: string }> {
      const other = await findOther(db, named);
      checkUnmerge(other);
      await setMerged(db, other.contact, null, null);
      await db.run('DELETE FROM merged_contact WHERE account = $1 AND contact = $2 AND other = $3', [
        db.account,
        other.mergedInto,
        other.contact,
      ]);
      return { contactUUID: other.contactUUID };
    },
  };
};
