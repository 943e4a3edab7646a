/**
 * A database for contact searches. Inserts rows directly, because a server takes minutes to create a million contacts,
 * and then updates the contact index, as a server does after an upgrade.
 */

import { createContactIndex } from '../src/store/sqlite/contacts/contact-index.ts';
import { openConnection } from '../src/store/sqlite/database/connection.ts';
import { openBenchmark } from './account.ts';
import { type CachedDatabase, openCached } from './cached-database.ts';
import { contactAddress, contactName } from './visits.ts';

const day = 86_400_000;
/** When the first contact was created. Another contact is created each minute after that. */
export const firstCreated = Date.UTC(2024, 0, 1);
export const creationIntervalMs = 60_000;
/** The number of days on which contacts were last seen. */
export const seenDays = 500;
export const firstSeenDay = Date.UTC(2025, 0, 1) / day;

/** One in this many contacts has the rare values. */
export const rare = 100_000;

const contactsPerCommit = 20_000;

/** Fills the file. Returns the number of contacts and the indexing time per contact. */
const fill = async (path: string, contacts: number): Promise<{ contacts: number; indexMicroseconds: number }> => {
  const { store, caller } = await openBenchmark(path, firstCreated);
  await store.close();
  const db = openConnection(path, 'write');
  try {
    db.pragma('synchronous = OFF');
    const insert = db.prepare(`
      INSERT INTO contact (contact, account, contactUUID, contactEmailaddress, contactFirstname, contactLastname, contactProfileID,
        contactStatus, verified, firstDay, lastDay, createdTime, updatedTime)
      VALUES (@contact, @account, @contactUUID, @address, 'Visitor', @name, @profile, @status, 1, @seen, @seen, @time, @time)`);
    const tag = db.prepare('INSERT INTO contact_tag VALUES (?, ?, 1)');
    const attribute = db.prepare('INSERT INTO contact_attr VALUES (?, ?, ?)');
    const fillRange = db.transaction((from: number, to: number) => {
      for (let contact = from; contact < to; contact += 1) {
        const isRare = contact % rare === 7;
        insert.run({
          contact,
          account: caller.account,
          contactUUID: contactName(contact),
          address: contactAddress(contact),
          name: String(contact),
          profile: isRare ? 'rare' : contact % 10 === 0 ? 'retail' : 'customer',
          status: isRare ? 'archived' : contact % 20 === 0 ? 'unsubscribed' : 'active',
          seen: contact % 3 === 0 ? null : firstSeenDay + ((contact * 7_919) % seenDays),
          time: firstCreated + contact * creationIntervalMs,
        });
        tag.run(contact, 'newsletter');
        if (contact % 100 === 0) tag.run(contact, 'vip');
        if (isRare) tag.run(contact, 'rare');
        attribute.run(contact, 'size', isRare ? 'XXXL' : ['S', 'M', 'L', 'XL'][contact % 4]);
        attribute.run(contact, 'city', `city ${(contact * 31) % 5_000}`);
      }
    });
    for (let from = 1; from <= contacts; from += contactsPerCommit) {
      fillRange(from, Math.min(from + contactsPerCommit, contacts + 1));
    }
    const index = createContactIndex(db);
    const step = db.transaction(() => {
      for (let nth = 0; nth < 100; nth += 1) if (index.step() === 0) return false;
      return true;
    });
    const startTime = performance.now();
    while (step());
    return { contacts, indexMicroseconds: ((performance.now() - startTime) * 1_000) / contacts };
  } finally {
    db.close();
  }
};

export const openSearchContacts = (
  contacts: number,
): Promise<CachedDatabase<{ contacts: number; indexMicroseconds: number }>> =>
  openCached(`${contacts}-contacts-to-find`, (path) => fill(path, contacts));
