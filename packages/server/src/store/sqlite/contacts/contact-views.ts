/** Combines the rows of a contact into its view, by the rules in identity/. */
import { type ContactView, contactFields, type Values, viewContact } from '../../../identity/contact-view.ts';
import type { Connection } from '../database/connection.ts';
import { createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import { type ContactRow, createMergeReader } from './contact-rows.ts';

export const createContactViews = (db: Connection) => {
  const contacts = createContactFinder(db);
  const merges = createMergeReader(db);
  const claims = createClaimReader(db);
  const tags = db.prepare<[number], { tagID: string; opt: number }>(
    'SELECT tagID, opt FROM contact_tag WHERE contact = ?',
  );
  const attributes = db.prepare<[number], { attrID: string; attrValue: string | null }>(
    'SELECT attrID, attrValue FROM contact_attr WHERE contact = ?',
  );

  const isMergedInto = db
    .prepare<[number], 0 | 1>('SELECT EXISTS (SELECT 1 FROM contact WHERE mergedInto = ?)')
    .pluck();

  const valuesOf = (row: ContactRow): Values => ({
    fields: Object.fromEntries(contactFields.flatMap((name) => (row[name] === null ? [] : [[name, row[name]]]))),
    tags: new Map(tags.all(row.contact).map(({ tagID, opt }) => [tagID, opt === 1])),
    attributes: new Map(attributes.all(row.contact).map(({ attrID, attrValue }) => [attrID, attrValue])),
  });

  return {
    /** The rows of the contact that answers for `row`, which comes first, and of all contacts merged into it. */
    groupOf: (row: ContactRow): ContactRow[] => {
      // Most contacts are not merged: one look is faster than following both directions.
      if (row.mergedInto === null && isMergedInto.get(row.contact) === 0)
        return [contacts.get(row.contact) as ContactRow];
      return merges.group(row.contact).map((contact) => contacts.get(contact) as ContactRow);
    },

    viewOf: (group: readonly ContactRow[]): ContactView =>
      viewContact(
        group.map((row) => ({
          values: valuesOf(row),
          verified: row.verified === 1,
          claims: claims.ofContact(row.contact),
        })),
      ),
  };
};
