/** Reads contact rows, and follows merges to the contact that appears in responses. */
import { followMerges } from '../../../identity/merges.ts';
import { type AccountConnection, ConcurrentChange } from '../database/connection.ts';

/** The values of a contact's own record except its keys; see identity/contact-view.ts. */
export interface OwnValues {
  readonly fields: Readonly<Record<string, string>>;
  readonly tags: readonly [tagID: string, opt: boolean][];
  readonly attributes: readonly [attrID: string, attrValue: string | null][];
}

export interface ContactRow {
  readonly contact: number;
  readonly account: number;
  readonly contactUUID: string;
  readonly contactEmailaddress: string | null;
  readonly contactExternalID: string | null;
  readonly externalIDClaim: number | null;
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

export const byNumber = (a: ContactRow, b: ContactRow): number => a.contact - b.contact;

/** Returns contact rows, ascending by number. Sorts in JavaScript for the reason given in event-order.ts. */
export const readContacts = async (db: AccountConnection, contacts: readonly number[]): Promise<ContactRow[]> => {
  const sql = 'SELECT * FROM contact WHERE account = $1 AND contact = ANY ($2::bigint[])';
  const rows = await db.all<ContactRow>(sql, [db.account, contacts]);
  return rows.sort(byNumber);
};

/** Contacts by number, with all contacts that they are merged into. */
type Chains = ReadonlyMap<number, ContactRow>;

/**
 * Reads contacts and all contacts that they are merged into, except `loaded` contacts. Each query follows one step of
 * all chains.
 */
export const readChains = async (
  db: AccountConnection,
  contacts: readonly number[],
  loaded: readonly ContactRow[] = [],
): Promise<Chains> => {
  const rows = new Map(loaded.map((row) => [row.contact, row]));
  const unknownOf = (contacts: readonly (number | null)[]): number[] => [
    ...new Set(contacts.flatMap((contact) => (contact === null || rows.has(contact) ? [] : contact))),
  ];
  for (let at = unknownOf([...contacts, ...loaded.map(({ mergedInto }) => mergedInto)]); at.length > 0; ) {
    const batch = await readContacts(db, at);
    for (const row of batch) rows.set(row.contact, row);
    at = unknownOf(batch.map(({ mergedInto }) => mergedInto));
  }
  return rows;
};

/** Returns which contact is merged into which, in the form that the rules in identity/ take. */
export const pointersOf = (chains: Chains): Map<number, number> =>
  new Map(
    [...chains.values()].flatMap(({ contact, mergedInto }) => (mergedInto === null ? [] : [[contact, mergedInto]])),
  );

/** Returns the contact at the end of this contact's merges, or itself if it is not merged. */
export const readRemainingContact = async (db: AccountConnection, contact: number): Promise<ContactRow> => {
  const chains = await readChains(db, [contact]);
  const row = chains.get(followMerges(pointersOf(chains))(contact));
  if (!row) throw new ConcurrentChange();
  return row;
};
