/** Creates contacts, and writes the values that server tokens send. */
import type { ContactView } from '../../../identity/contact-view.ts';
import { Refusal } from '../../../refusal.ts';
import { usesOfContact } from '../../rules/catalogue-rules.ts';
import {
  type CreatedContact,
  changedFields,
  newAddress,
  type WrittenContact,
  writtenFields,
} from '../../rules/contact-changes.ts';
import type { ContactChange } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import { Overtaken } from '../database/connection.ts';
import { holdAddresses } from '../transactions/held-rows.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import type { ContactRow, OwnValues } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';

const withChange = ({ fields, tags, attributes }: OwnValues, change: WrittenContact): OwnValues => {
  const changedTags = new Map(tags);
  for (const tagID of change.addedTags) changedTags.set(tagID, true);
  for (const tagID of change.removedTags) changedTags.set(tagID, false);
  return {
    fields: { ...fields, ...writtenFields(change.fields) },
    tags: [...changedTags],
    attributes: [...new Map([...attributes, ...change.attributes])],
  };
};

export const createContactWriter = (finder: ContactFinder, catalogues: CatalogueWriter) => {
  /** Replaces the contact's address. Throws a Refusal when another contact has the new one. */
  const takeAddress = async (db: Transaction, row: ContactRow, address: string) => {
    const { account, contact, contactUUID, contactEmailaddress } = row;
    if (address === contactEmailaddress) return;
    const taken = await db.run(
      `INSERT INTO contact_address ("contactEmailaddress", account, contact, "contactUUID") VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING`,
      [address, account, contact, contactUUID],
    );
    if (taken === 0) throw new Refusal('email_taken', { field: 'contactEmailaddress' });
    await db.run('DELETE FROM contact_address WHERE "contactEmailaddress" = $1 AND account = $2', [
      contactEmailaddress,
      account,
    ]);
  };

  const write = async (
    db: Transaction,
    row: ContactRow,
    change: WrittenContact,
  ): Promise<{ contactUUID: string; updated: string[] }> => {
    const found = await finder.answering(db, row);
    const address = newAddress(change);
    if (address !== undefined) await holdAddresses(db, [found]);
    const { contact, contactUUID } = found;
    const kept = await db.get<ContactRow>('SELECT * FROM contact WHERE contact = $1 FOR NO KEY UPDATE', [contact]);
    // The contact was erased, or its address was replaced, meanwhile.
    if (!kept) throw new Overtaken();
    if (address !== undefined) {
      if (kept.contactEmailaddress !== found.contactEmailaddress) throw new Overtaken();
      await takeAddress(db, kept, address);
    }
    const after: ContactRow = {
      ...kept,
      said: withChange(kept.said, change),
      contactEmailaddress: address ?? kept.contactEmailaddress,
      verified: kept.verified || address !== undefined,
      contactStatus: change.contactStatus ?? kept.contactStatus,
    };
    const [[, ...merged]] = (await rowsOf(db, [kept])) as [ContactRow[]];
    const views = await viewsOf(db, [
      [kept, ...merged],
      [after, ...merged],
    ]);
    const updated = changedFields(...(views as [ContactView, ContactView]));
    if (after.contactStatus !== kept.contactStatus) updated.push('contactStatus');
    await db.run(
      `UPDATE contact SET said = $2, "contactEmailaddress" = $3, verified = $4, "contactStatus" = $5, "updatedTime" = $6
       WHERE contact = $1`,
      [
        contact,
        JSON.stringify(after.said),
        after.contactEmailaddress,
        after.verified,
        after.contactStatus,
        updated.length > 0 ? change.time : kept.updatedTime,
      ],
    );
    return { contactUUID, updated };
  };

  return {
    /** Returns the contact with an address; creates it if there is none. */
    async ensure(
      db: Transaction,
      { account, address, newContactUUID, verified, time }: CreatedContact,
    ): Promise<{ row: ContactRow; existed: boolean }> {
      // Does the same work whether or not the address is known, so that the response time does not show it to a browser token.
      const { contact, contactUUID } = await db.one<{ contact: number; contactUUID: string }>(
        `INSERT INTO contact_address ("contactEmailaddress", account, contact, "contactUUID")
         VALUES ($1, $2, nextval('contact_number'), $3)
         ON CONFLICT ("contactEmailaddress", account) DO UPDATE SET account = excluded.account
         RETURNING contact, "contactUUID"`,
        [address, account, newContactUUID],
      );
      const [, row] = await Promise.all([
        db.run(
          `INSERT INTO contact_name ("contactUUID", account, contact) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
          [contactUUID, account, contact],
        ),
        db.one<ContactRow>(
          `INSERT INTO contact (contact, account, "contactUUID", "contactEmailaddress", said, "contactStatus", verified,
             "createdTime", "updatedTime")
           VALUES ($1, $2, $3, $4, '{"fields": {}, "tags": [], "attributes": []}', 'active', $5, $6, $6)
           ON CONFLICT (contact) DO UPDATE SET verified = contact.verified OR excluded.verified RETURNING *`,
          [contact, account, contactUUID, address, verified, time],
        ),
      ]);
      return { row, existed: contactUUID !== newContactUUID };
    },

    /**
     * Writes to the contact at the end of `row`'s merges. Returns its contactUUID and the names of the fields whose visible values
     * changed. Throws a Refusal when another contact has the new address.
     */
    write,

    async updateContact(db: Transaction, change: ContactChange): Promise<{ contactUUID: string; updated: string[] }> {
      const { account } = change;
      const row = await finder.byName(db, change);
      const uses = usesOfContact({ ...change, tags: change.addedTags });
      await catalogues.check(db, account, { browser: false, uses });
      const answer = await write(db, row, change);
      await catalogues.register(db, account, [{ browser: false, uses }]);
      return answer;
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
