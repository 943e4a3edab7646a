/** Creates contacts, and writes what a server token says of them. */
import { type ContactField, contactFields } from '../../../identity/contact-view.ts';
import { Refusal } from '../../../refusal.ts';
import { changedFields } from '../../rules/contact-presenter.ts';
import type { ContactChange } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';

export interface CreatedContact {
  readonly account: number;
  readonly address: string;
  readonly newContactUUID: string;
  readonly verified: boolean;
  readonly time: number;
}

/** An `address` replaces the contact's own. */
export type WrittenContact = Omit<ContactChange, 'account' | 'contactUUID'>;

export const createContactWriter = (db: Connection) => {
  const finder = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  // Does the same work whether or not the address is known: a browser token must not learn that from the response time.
  const upsert = db.prepare<unknown[], { contact: number; contactUUID: string }>(`
    INSERT INTO contact (account, contactUUID, contactEmailaddress, contactStatus, verified, createdTime, updatedTime)
    VALUES (@account, @newContactUUID, @address, 'active', @verified, @time, @time)
    ON CONFLICT (account, contactEmailaddress) DO UPDATE SET verified = max(verified, @verified)
    RETURNING contact, contactUUID`);
  const setFields = db.prepare(`
    UPDATE contact SET ${contactFields.map((name) => `${name} = @${name}`).join(', ')}, contactStatus = @contactStatus,
      verified = @verified
    WHERE contact = @contact`);
  const setTime = db.prepare('UPDATE contact SET updatedTime = ? WHERE contact = ?');
  const setTag = db.prepare(
    'INSERT INTO contact_tag VALUES (?, ?, ?) ON CONFLICT (contact, tagID) DO UPDATE SET opt = excluded.opt',
  );
  const setAttribute = db.prepare(
    'INSERT INTO contact_attr VALUES (?, ?, ?) ON CONFLICT (contact, attrID) DO UPDATE SET attrValue = excluded.attrValue',
  );

  const writeRows = (row: ContactRow, change: WrittenContact) => {
    const { address, addedTags, removedTags, attributes, contactStatus = row.contactStatus } = change;
    const fields: Record<ContactField, string | null> = { ...row };
    for (const name of contactFields) {
      const value = change.fields[name];
      // A cleared field is stored as '', unlike one that was never set: no claim may fill it.
      if (value !== undefined) fields[name] = value ?? '';
    }
    if (address !== undefined) fields.contactEmailaddress = address;
    const verified = address === undefined ? row.verified : 1;
    setFields.run({ ...fields, contact: row.contact, contactStatus, verified });
    for (const tagID of addedTags) setTag.run(row.contact, tagID, 1);
    for (const tagID of removedTags) setTag.run(row.contact, tagID, 0);
    for (const [attrID, attrValue] of attributes) setAttribute.run(row.contact, attrID, attrValue);
  };

  return {
    ...finder,

    /** Creates a contact with the address if there is none. Returns the contact that has the address. */
    ensure({ account, address, newContactUUID, verified, time }: CreatedContact): {
      row: ContactRow;
      existed: boolean;
    } {
      const found = upsert.get({ account, address, newContactUUID, verified: Number(verified), time });
      const { contact, contactUUID } = found as { contact: number; contactUUID: string };
      return { row: finder.get(contact) as ContactRow, existed: contactUUID !== newContactUUID };
    },

    /**
     * Writes to the contact that answers for `row`. Returns the contactUUID of that contact and the names of the fields whose
     * visible value changed. Throws a Refusal before any write when another contact has the address.
     */
    write(row: ContactRow, change: WrittenContact): { contactUUID: string; updated: string[] } {
      const kept = finder.answering(row);
      const { account, contact, contactUUID, contactStatus } = kept;
      const holder = change.address === undefined ? undefined : finder.byAddress(account, change.address);
      if (holder && holder.contact !== contact) throw new Refusal('email_taken', { field: 'contactEmailaddress' });

      const before = viewOf(groupOf(kept));
      writeRows(kept, change);
      const updated = changedFields(before, viewOf(groupOf(kept)));
      if ((change.contactStatus ?? contactStatus) !== contactStatus) updated.push('contactStatus');
      if (updated.length > 0) setTime.run(change.time, contact);
      return { contactUUID, updated };
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
