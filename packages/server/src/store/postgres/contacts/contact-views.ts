/** Builds contact views from rows, with the rules in identity/. */
import { type ContactRecord, type ContactView, type Values, viewContact } from '../../../identity/contact-view.ts';
import { type ContactMerges, noContactMerges } from '../../../identity/merged-entries.ts';
import { isExternalIDVerified } from '../../rules/contact-keys.ts';
import type { AccountConnection } from '../database/connection.ts';
import { claimsOf } from './claims.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { groupsOf } from './merges.ts';

/** Returns the values of a contact's own record. */
export const fieldsOf = ({ said, contactExternalID, contactEmailaddress }: ContactRow): Values['fields'] => ({
  ...said.fields,
  ...(contactExternalID !== null && { contactExternalID }),
  ...(contactEmailaddress !== null && { contactEmailaddress }),
});

const valuesOf = (row: ContactRow): Values => ({
  fields: fieldsOf(row),
  tags: new Map(row.said.tags),
  attributes: new Map(row.said.attributes),
});

/**
 * Returns each contact's own row and then the rows of all contacts merged into it. `unmerged` must not be merged
 * themselves.
 */
export const rowsOf = async (db: AccountConnection, unmerged: readonly ContactRow[]): Promise<ContactRow[][]> => {
  const numbers = unmerged.map(({ contact }) => contact);
  const groups = await groupsOf(db, numbers);
  const others = groups.flatMap(([, ...merged]) => merged);
  const otherRows = others.length > 0 ? await readContacts(db, others) : [];
  const rows = new Map([...otherRows, ...unmerged].map((row) => [row.contact, row]));
  return groups.map((group) => group.map((contact) => rows.get(contact) as ContactRow));
};

/** Returns each group's records, a result of `rowsOf`. */
export const recordsOf = async (
  db: AccountConnection,
  groups: readonly (readonly ContactRow[])[],
): Promise<ContactRecord[][]> => {
  const claims = await claimsOf(
    db,
    groups.flat().map(({ contact }) => contact),
  );
  return groups.map((group) =>
    group.map((row) => ({
      values: valuesOf(row),
      verified: row.verified,
      externalIDVerified: isExternalIDVerified(row),
      claims: claims.filter(({ contact }) => contact === row.contact),
    })),
  );
};

/** Returns each group's view, a result of `rowsOf`. Without `merges`, values have the stored IDs. */
export const viewsOf = async (
  db: AccountConnection,
  groups: readonly (readonly ContactRow[])[],
  merges: ContactMerges = noContactMerges,
): Promise<ContactView[]> => (await recordsOf(db, groups)).map((records) => viewContact(records, merges));
