/** Contacts as they lie in their table, and the way from one that was merged to the one that answers for it. */
import { followMerges } from '../../identity/merges.ts';
import type { Connection } from './connection.ts';

/** What a contact's own record says of it but for its address; see identity/contact-view.ts. */
export interface OwnValues {
  readonly fields: Readonly<Record<string, string>>;
  readonly tags: readonly [tagID: string, opt: boolean][];
  readonly attributes: readonly [attrID: string, attrValue: string | null][];
}

export interface ContactRow {
  readonly contact: number;
  readonly account: number;
  readonly contactUUID: string;
  readonly contactEmailaddress: string;
  readonly said: OwnValues;
  readonly contactStatus: string;
  readonly verified: boolean;
  readonly mergedInto: number | null;
  readonly mergedTime: number | null;
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** Ascending by number. */
export const readContacts = (db: Connection, contacts: readonly number[]): Promise<ContactRow[]> =>
  db.all<ContactRow>('SELECT * FROM contact WHERE contact = ANY ($1::bigint[]) ORDER BY contact', [contacts]);

/** Contacts by number, with all that they were merged into. */
export type Chains = ReadonlyMap<number, ContactRow>;

/** These, and whom their merges lead to: asked a step of all of them at a time, so once where nobody is merged. */
export const readChains = async (db: Connection, contacts: readonly number[]): Promise<Chains> => {
  const rows = new Map<number, ContactRow>();
  for (let at = contacts; at.length > 0; ) {
    const found = await readContacts(db, at);
    for (const row of found) rows.set(row.contact, row);
    at = [...new Set(found.flatMap(({ mergedInto }) => mergedInto ?? []))].filter((contact) => !rows.has(contact));
  }
  return rows;
};

/** Who was merged into whom, as the rules in identity/ take it. */
export const pointersOf = (chains: Chains): Map<number, number> =>
  new Map(
    [...chains.values()].flatMap(({ contact, mergedInto }) => (mergedInto === null ? [] : [[contact, mergedInto]])),
  );

/** The contact that answers for this one now. */
export const readAnswering = async (db: Connection, contact: number): Promise<ContactRow> => {
  const chains = await readChains(db, [contact]);
  return chains.get(followMerges(pointersOf(chains))(contact)) as ContactRow;
};
