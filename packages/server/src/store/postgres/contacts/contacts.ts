/** Creates contacts, and writes the values that server tokens send. */
import { contactFields } from '../../../identity/contact-view.ts';
import { Refusal } from '../../../refusal.ts';
import { usesOfContact } from '../../rules/catalogue-rules.ts';
import { changedFields } from '../../rules/contact-presenter.ts';
import type { ContactChange } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import { Overtaken } from '../database/connection.ts';
import { holdAddresses } from '../transactions/held-rows.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import type { ContactRow, OwnValues } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';

export interface CreatedContact {
  readonly account: number;
  readonly address: string;
  readonly newContactUUID: string;
  readonly verified: boolean;
  readonly time: number;
}

/** A change of a contact's own values. `address` replaces the contact's e-mail address. */
export type WrittenContact = Omit<ContactChange, 'account' | 'contactUUID'>;

const withChange = (said: OwnValues, change: WrittenContact): OwnValues => {
  const fields = { ...said.fields };
  for (const name of contactFields) {
    const value = change.fields[name];
    // A cleared field is '', not absent, so that no claim fills it.
    if (value !== undefined && name !== 'contactEmailaddress') fields[name] = value ?? '';
  }
  const tags = new Map(said.tags);
  for (const tagID of change.addedTags) tags.set(tagID, true);
  for (const tagID of change.removedTags) tags.set(tagID, false);
  return { fields, tags: [...tags], attributes: [...new Map([...said.attributes, ...change.attributes])] };
};

export const createContactWriter = (finder: ContactFinder, catalogues: CatalogueWriter) => {
  const view = async (db: Transaction, row: ContactRow) => (await viewsOf(db, await rowsOf(db, [row])))[0];

  /** Locks and returns the contact's row. Throws Overtaken when the contact was erased meanwhile. */
  const held = async (db: Transaction, contact: number): Promise<ContactRow> => {
    const row = await db.get<ContactRow>('SELECT * FROM contact WHERE contact = $1 FOR NO KEY UPDATE', [contact]);
    if (!row) throw new Overtaken();
    return row;
  };

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
    if (change.address !== undefined) await holdAddresses(db, [found]);
    const kept = await held(db, found.contact);
    const { contact, contactUUID, contactStatus } = kept;
    if (change.address !== undefined) {
      if (kept.contactEmailaddress !== found.contactEmailaddress) throw new Overtaken();
      await takeAddress(db, kept, change.address);
    }
    const before = await view(db, kept);
    const after: ContactRow = {
      ...kept,
      said: withChange(kept.said, change),
      contactEmailaddress: change.address ?? kept.contactEmailaddress,
      verified: kept.verified || change.address !== undefined,
      contactStatus: change.contactStatus ?? contactStatus,
    };
    const updated = changedFields(
      before as NonNullable<typeof before>,
      (await view(db, after)) as NonNullable<typeof before>,
    );
    if (after.contactStatus !== contactStatus) updated.push('contactStatus');
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
      const { account, contactUUID, address, ...rest } = change;
      const row = await finder.byName(db, change);
      const { addedTags: tags, attributes, fields } = change;
      const uses = usesOfContact({ profileID: fields.contactProfileID, tags, attributes });
      const check = await catalogues.checks(db, [account]);
      check(account, { browser: false, uses });
      const answer = await write(db, row, contactUUID === undefined ? rest : { ...rest, address });
      await catalogues.register(db, account, [{ browser: false, uses }]);
      return answer;
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
