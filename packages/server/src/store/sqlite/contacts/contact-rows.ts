/** Stored contacts, and the pointers from merged contacts to the contacts that they were merged into. */
import type { ContactField } from '../../../identity/contact-view.ts';
import { followMerges, mergedWith } from '../../../identity/merges.ts';
import type { Connection } from '../database/connection.ts';
import type { ActiveDays } from './active-days.ts';

export type ContactRow = Readonly<Record<ContactField, string | null>> &
  ActiveDays & {
    readonly contact: number;
    readonly account: number;
    readonly contactUUID: string;
    readonly contactStatus: string;
    readonly verified: number;
    readonly externalIDClaim: number | null;
    readonly mergedInto: number | null;
    readonly mergedTime: number | null;
    readonly createdTime: number;
    readonly updatedTime: number;
  };

export const createMergeReader = (db: Connection) => {
  const selectChain = db.prepare<[number], { contact: number; mergedInto: number }>(`
    WITH RECURSIVE chain (contact, mergedInto) AS (
      SELECT contact, mergedInto FROM contact WHERE contact = ?
      UNION
      SELECT c.contact, c.mergedInto FROM chain JOIN contact c ON c.contact = chain.mergedInto
    )
    SELECT contact, mergedInto FROM chain WHERE mergedInto IS NOT NULL`);
  const selectTree = db.prepare<[number], { contact: number; mergedInto: number }>(`
    WITH RECURSIVE tree (contact, mergedInto) AS (
      SELECT contact, mergedInto FROM contact WHERE mergedInto = ?
      UNION
      SELECT c.contact, c.mergedInto FROM tree JOIN contact c ON c.mergedInto = tree.contact
    )
    SELECT contact, mergedInto FROM tree`);
  const toMergeMap = (rows: { contact: number; mergedInto: number }[]) =>
    new Map(rows.map(({ contact, mergedInto }) => [contact, mergedInto]));

  return {
    /** Returns the chain of merges from a contact. */
    from: (contact: number) => toMergeMap(selectChain.all(contact)),
    /** Returns the contact at the end of the chain. */
    follow: (contact: number): number => followMerges(toMergeMap(selectChain.all(contact)))(contact),
    /** Returns the contact at the end of the chain, then all contacts merged into it. */
    group: (contact: number): number[] => {
      const kept = followMerges(toMergeMap(selectChain.all(contact)))(contact);
      return [kept, ...mergedWith(toMergeMap(selectTree.all(kept)), kept).filter((other) => other !== kept)];
    },
  };
};
