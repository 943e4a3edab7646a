/** Creates contacts, and writes what a server token says of them. */
import { contactFields } from '../../../identity/contact-view.ts';
import { Refusal } from '../../../refusal.ts';
import {
  type CreatedContact,
  changedFields,
  newAddress,
  type WrittenContact,
  writtenFields,
} from '../../rules/contact-changes.ts';
import type { Connection } from '../database/connection.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';

export const createContactWriter = (db: Connection) => {
  const finder = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  // Does the same work whether or not the address is known: a browser token must not learn that from the response time.
  const upsert = db.prepare<unknown[], ContactRow>(`
    INSERT INTO contact (account, contactUUID, contactEmailaddress, contactStatus, verified, createdTime, updatedTime)
    VALUES (@account, @newContactUUID, @address, 'active', @verified, @time, @time)
    ON CONFLICT (account, contactEmailaddress) DO UPDATE SET verified = max(verified, @verified)
    RETURNING *`);
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

  return {
    ...finder,

    /** Creates a contact with the address if there is none. Returns the contact that has the address. */
    ensure({ account, address, newContactUUID, verified, time }: CreatedContact): {
      row: ContactRow;
      existed: boolean;
    } {
      const row = upsert.get({ account, address, newContactUUID, verified: Number(verified), time }) as ContactRow;
      return { row, existed: row.contactUUID !== newContactUUID };
    },

    /**
     * Writes to the contact that answers for `row`. Returns the contactUUID of that contact and the names of the fields whose
     * visible value changed. Throws a Refusal before any write when another contact has the address.
     */
    write(row: ContactRow, change: WrittenContact): { contactUUID: string; updated: string[] } {
      const kept = finder.answering(row.contact);
      const { account, contact, contactUUID } = kept;
      const { addedTags, removedTags, attributes, contactStatus = kept.contactStatus, time } = change;
      const address = newAddress(change);
      const holder = address === undefined ? undefined : finder.byAddress(account, address);
      if (holder && holder.contact !== contact) throw new Refusal('email_taken', { field: 'contactEmailaddress' });

      const before = viewOf(groupOf(kept));
      setFields.run({
        ...kept,
        ...writtenFields(change.fields),
        contactEmailaddress: address ?? kept.contactEmailaddress,
        contactStatus,
        verified: address === undefined ? kept.verified : 1,
      });
      for (const tagID of addedTags) setTag.run(contact, tagID, 1);
      for (const tagID of removedTags) setTag.run(contact, tagID, 0);
      for (const [attrID, attrValue] of attributes) setAttribute.run(contact, attrID, attrValue);
      const updated = changedFields(before, viewOf(groupOf(kept)));
      if (contactStatus !== kept.contactStatus) updated.push('contactStatus');
      if (updated.length > 0) setTime.run(time, contact);
      return { contactUUID, updated };
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
