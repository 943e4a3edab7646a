/** Builds contact views from rows with the rules in identity/. */
import {
  type ContactRecord,
  type ContactView,
  contactFields,
  type Values,
  viewContact,
} from '../../../identity/contact-view.ts';
import { type ContactMerges, noContactMerges } from '../../../identity/merged-entries.ts';
import { isExternalIDVerified } from '../../rules/contact-keys.ts';
import type { Connection } from '../database/connection.ts';
import { createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import { type ContactRow, createMergeReader } from './contact-rows.ts';

/** Groups rows by contact. */
const groupByContact = <Value>(rows: readonly [contact: number, id: string, value: Value][]) => {
  const lists = new Map<number, [string, Value][]>();
  for (const [contact, id, value] of rows) {
    const list = lists.get(contact);
    if (list) list.push([id, value]);
    else lists.set(contact, [[id, value]]);
  }
  return lists;
};

export const createContactViews = (db: Connection) => {
  const contacts = createContactFinder(db);
  const merges = createMergeReader(db);
  const claims = createClaimReader(db);
  // Reads in bulk, with a JSON array of row numbers, because a statement per contact takes twice as long.
  const tags = db
    .prepare<[string], [contact: number, tagID: string, opt: number]>(
      'SELECT t.contact, t.tagID, t.opt FROM json_each(?) given CROSS JOIN contact_tag t ON t.contact = given.value',
    )
    .raw();
  const attributes = db
    .prepare<[string], [contact: number, attrID: string, attrValue: string | null]>(
      'SELECT a.contact, a.attrID, a.attrValue FROM json_each(?) given CROSS JOIN contact_attr a ON a.contact = given.value',
    )
    .raw();
  const mergeTargets = db
    .prepare<[string], number>(
      'SELECT given.value FROM json_each(?) given WHERE EXISTS (SELECT 1 FROM contact m WHERE m.mergedInto = given.value)',
    )
    .pluck();
  const isMergedInto = db
    .prepare<[number], 0 | 1>('SELECT EXISTS (SELECT 1 FROM contact WHERE mergedInto = ?)')
    .pluck();

  const mergedGroup = (contact: number): ContactRow[] =>
    merges.group(contact).map((each) => contacts.get(each) as ContactRow);

  const fieldsOf = (row: ContactRow): Values['fields'] => {
    const fields: { -readonly [Name in keyof Values['fields']]: Values['fields'][Name] } = {};
    for (const name of contactFields) {
      const value = row[name];
      if (value !== null) fields[name] = value;
    }
    return fields;
  };

  const recordsOf = (groups: readonly (readonly ContactRow[])[]): ContactRecord[][] => {
    const numbers = JSON.stringify(groups.flatMap((group) => group.map(({ contact }) => contact)));
    const tagsOf = groupByContact(tags.all(numbers));
    const attributesOf = groupByContact(attributes.all(numbers));
    return groups.map((group) =>
      group.map((row) => ({
        values: {
          fields: fieldsOf(row),
          tags: new Map(tagsOf.get(row.contact)?.map(([tagID, opt]) => [tagID, opt === 1])),
          attributes: new Map(attributesOf.get(row.contact)),
        },
        verified: row.verified === 1,
        externalIDVerified: isExternalIDVerified(row),
        claims: claims.ofContact(row.contact),
      })),
    );
  };

  /** Returns each group's view. Without `entryMerges`, values have stored IDs. */
  const viewsOf = (
    groups: readonly (readonly ContactRow[])[],
    entryMerges: ContactMerges = noContactMerges,
  ): ContactView[] => recordsOf(groups).map((records) => viewContact(records, entryMerges));

  return {
    /** Returns the values of a contact's own record. */
    fieldsOf,
    /**
     * Returns the current rows of the contact at the end of `row`'s merges, which comes first, and of all contacts
     * merged into it.
     */
    groupOf: (row: ContactRow): ContactRow[] => {
      // Most contacts are not merged, so a lookup is faster than following merges in both directions.
      if (row.mergedInto === null && isMergedInto.get(row.contact) === 0)
        return [contacts.get(row.contact) as ContactRow];
      return mergedGroup(row.contact);
    },
    /** Returns the group of each of these rows. The rows must be current and not merged. */
    groupsOf: (rows: readonly ContactRow[]): ContactRow[][] => {
      const targets = new Set(mergeTargets.all(JSON.stringify(rows.map(({ contact }) => contact))));
      return rows.map((row) => (targets.has(row.contact) ? mergedGroup(row.contact) : [row]));
    },
    recordsOf,
    viewsOf,
    viewOf: (group: readonly ContactRow[], entryMerges?: ContactMerges): ContactView =>
      viewsOf([group], entryMerges)[0] as ContactView,
  };
};
