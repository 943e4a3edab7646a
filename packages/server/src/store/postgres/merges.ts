/** Which contact answers for which: the pointers, loaded as far as the rules in identity/ need them. */
import { followMerges, mergedWith, wouldCycle } from '../../identity/merges.ts';
import { Refusal } from '../../refusal.ts';
import type { RequestOf } from './calls.ts';
import type { Connection } from './connection.ts';
import type { ContactFinder } from './contact-finder.ts';
import type { Transaction } from './transaction.ts';

type Pointer = readonly [contact: number, mergedInto: number];

/** Goes from contact to contact, a step for all of them at a time. */
const walk = async (
  start: readonly number[],
  next: (contacts: readonly number[]) => Promise<{ pointers: Pointer[]; reached: number[] }>,
): Promise<Map<number, number>> => {
  const pointers = new Map<number, number>();
  const seen = new Set(start);
  for (let at = [...seen]; at.length > 0; ) {
    const step = await next(at);
    for (const [contact, mergedInto] of step.pointers) pointers.set(contact, mergedInto);
    at = step.reached.filter((contact) => !seen.has(contact));
    for (const contact of at) seen.add(contact);
  }
  return pointers;
};

/** The pointers from these contacts on. */
export const pointersFrom = (db: Connection, contacts: readonly number[]): Promise<Map<number, number>> =>
  walk(contacts, async (at) => {
    const rows = await db.all<{ contact: number; mergedInto: number }>(
      'SELECT contact, "mergedInto" FROM contact WHERE contact = ANY ($1::bigint[]) AND "mergedInto" IS NOT NULL',
      [at],
    );
    return {
      pointers: rows.map(({ contact, mergedInto }): Pointer => [contact, mergedInto]),
      reached: rows.map(({ mergedInto }) => mergedInto),
    };
  });

/** The pointers to these contacts. */
const pointersTo = (db: Connection, contacts: readonly number[]): Promise<Map<number, number>> =>
  walk(contacts, async (at) => {
    const rows = await db.all<{ contact: number; other: number }>(
      'SELECT contact, other FROM merged_contact WHERE contact = ANY ($1::bigint[])',
      [at],
    );
    return {
      pointers: rows.map(({ contact, other }): Pointer => [other, contact]),
      reached: rows.map(({ other }) => other),
    };
  });

/** The contact that answers for this one now. */
export const followTo = async (db: Connection, contact: number): Promise<number> =>
  followMerges(await pointersFrom(db, [contact]))(contact);

/** For each of these, which answer for themselves: itself, first, and all that it answers for. */
export const groupsOf = async (db: Connection, kept: readonly number[]): Promise<number[][]> => {
  const pointers = await pointersTo(db, kept);
  return kept.map((contact) => [contact, ...mergedWith(pointers, contact).filter((other) => other !== contact)]);
};

/** The contact that answers for this one, first, and all that it answers for. */
export const groupOf = async (db: Connection, contact: number): Promise<number[]> =>
  (await groupsOf(db, [await followTo(db, contact)]))[0] as number[];

/** To be carried out alone: no other merge may come between what is asked and what is written. */
export const createMergeWriter = (contacts: ContactFinder) => {
  const answeringUUID = async (db: Connection, contact: number) =>
    (await contacts.get(db, await followTo(db, contact))).contactUUID;

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
        return { contactUUID: await answeringUUID(db, keep.contact), mergedTime: other.mergedTime as number };
      }
      if (other.mergedInto !== null) {
        throw new Refusal('merge_refused', {
          field: 'otherContactUUID',
          message: 'otherContactUUID is merged into another contact: unmerge it first',
        });
      }
      if (wouldCycle(await pointersFrom(db, [keep.contact]), keep.contact, other.contact)) {
        throw new Refusal('merge_refused', { field: 'otherContactUUID', message: 'the merge would make a circle' });
      }
      await setMerged(db, other.contact, keep.contact, time);
      await db.run('INSERT INTO merged_contact (contact, other) VALUES ($1, $2)', [keep.contact, other.contact]);
      return { contactUUID: await answeringUUID(db, keep.contact), mergedTime: time };
    },

    async unmergeContact(
      db: Transaction,
      { account, otherContactUUID }: RequestOf<'unmergeContact'>,
    ): Promise<{ contactUUID: string }> {
      const other = await findOther(db, account, otherContactUUID);
      if (other.mergedInto === null) {
        throw new Refusal('merge_refused', { field: 'otherContactUUID', message: 'otherContactUUID is not merged' });
      }
      await setMerged(db, other.contact, null, null);
      await db.run('DELETE FROM merged_contact WHERE contact = $1 AND other = $2', [other.mergedInto, other.contact]);
      return { contactUUID: other.contactUUID };
    },
  };
};
