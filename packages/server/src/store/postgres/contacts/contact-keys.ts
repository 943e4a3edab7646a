/** Stores which contact has a key (external ID or e-mail address). */
import type { KeyField } from '../../../identity/contact-view.ts';
import { ConcurrentChange } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';

const tables = { contactEmailaddress: 'contact_address', contactExternalID: 'contact_external_id' } as const;

/** Gives a key to a contact. Returns false if a contact already has it. */
export const insertKey = async (
  db: Transaction,
  field: KeyField,
  value: string,
  { account, contact, contactUUID }: Pick<ContactRow, 'account' | 'contact' | 'contactUUID'>,
): Promise<boolean> =>
  (await db.run(
    `INSERT INTO ${tables[field]} (account, "${field}", contact, "contactUUID") VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [account, value, contact, contactUUID],
  )) > 0;

/** Takes a key from its contact. */
export const deleteKey = async (
  db: Transaction,
  field: KeyField,
  { account, ...row }: Pick<ContactRow, 'account' | KeyField>,
): Promise<void> => {
  if (row[field])
    await db.run(`DELETE FROM ${tables[field]} WHERE account = $1 AND "${field}" = $2`, [account, row[field]]);
};

/** Returns the contact that has a key. Throws ConcurrentChange if it was erased or gave up the key in the meantime. */
export const findHolder = async (db: Transaction, field: KeyField, value: string): Promise<ContactRow> => {
  const place = await db.get<{ contact: number }>(
    `SELECT contact FROM ${tables[field]} WHERE account = $1 AND "${field}" = $2`,
    [db.account, value],
  );
  const [holder] = place ? await readContacts(db, [place.contact]) : [];
  if (holder?.[field] !== value) throw new ConcurrentChange();
  return holder;
};
