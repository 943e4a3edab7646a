/** Reads the contact merges that the rules in identity/ need; stores and removes merges. */
import { mergedWith } from '../../../identity/merges.ts';
import type { AccountConnection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { type ContactRow, readRemainingContact } from './contact-rows.ts';

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

/** Returns all contacts that are merged with this contact. The contact at the end of its merges comes first. */
export const groupOf = async (db: AccountConnection, contact: number): Promise<number[]> => {
  // Read in parallel, because most contacts are not merged.
  const [{ contact: answering }, [group]] = await Promise.all([
    readRemainingContact(db, contact),
    groupsOf(db, [contact]),
  ]);
  return (answering === contact ? group : (await groupsOf(db, [answering]))[0]) as number[];
};

const setMerged = (db: AccountConnection, contact: number, mergedInto: number | null, time: number | null) =>
  db.run('UPDATE contact SET "mergedInto" = $3, "mergedTime" = $4 WHERE account = $1 AND contact = $2', [
    db.account,
    contact,
    mergedInto,
    time,
  ]);

/** Merges a contact into another. Must run exclusively, so that no other merge happens between its reads and writes. */
export const mergeInto = async (
  db: Transaction,
  { contact }: Pick<ContactRow, 'contact'>,
  into: number,
  time: number,
): Promise<void> => {
  db.requireExclusive();
  await setMerged(db, contact, into, time);
  await db.run('INSERT INTO merged_contact (account, contact, other) VALUES ($1, $2, $3)', [db.account, into, contact]);
};

export const unmerge = async (
  db: Transaction,
  { contact, mergedInto }: Pick<ContactRow, 'contact' | 'mergedInto'>,
): Promise<void> => {
  db.requireExclusive();
  await setMerged(db, contact, null, null);
  await db.run('DELETE FROM merged_contact WHERE account = $1 AND contact = $2 AND other = $3', [
    db.account,
    mergedInto,
    contact,
  ]);
};
