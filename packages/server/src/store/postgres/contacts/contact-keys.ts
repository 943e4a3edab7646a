/** Stores which contact has a key, an external ID or e-mail address. */
import type { KeyField } from '../../../identity/contact-view.ts';
import { recordAudit } from '../../operations/audit.ts';
import { keyTaken, yieldsKey } from '../../rules/contact-keys.ts';
import { ConcurrentChange } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { hasAcceptedClaim } from './claims.ts';
import { type ContactRow, readAnswering, readContacts } from './contact-rows.ts';
import { groupOf, mergeInto } from './merges.ts';

const tables = { contactEmailaddress: 'contact_address', contactExternalID: 'contact_external_id' } as const;

type Place = Pick<ContactRow, 'account' | 'contact' | 'contactUUID'>;

/** Gives a key to a contact. Returns false if a contact already has it. */
const insertKey = async (
  db: Transaction,
  field: KeyField,
  value: string,
  { account, contact, contactUUID }: Place,
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

/**
 * Gives keys to a new contact. Throws ConcurrentChange if another contact has been given one of them in the meantime.
 */
export const insertKeys = async (
  db: Transaction,
  row: Place,
  keys: readonly (readonly [field: KeyField, value: string])[],
): Promise<void> => {
  for (const [field, value] of keys) if (!(await insertKey(db, field, value, row))) throw new ConcurrentChange();
};

/** Whether a contact gives up a key that a server token assigns to another (rules/contact-keys.ts). */
export const canReleaseKey = async (db: Transaction, holder: ContactRow, field: KeyField): Promise<boolean> =>
  yieldsKey(holder, field) &&
  (await groupOf(db, holder.contact)).length === 1 &&
  !(await hasAcceptedClaim(db, holder.contact));

interface KeyChange {
  readonly time: number;
  readonly by?: number | null | undefined;
  /** If another contact of the same person already has the key, that contact keeps it. */
  readonly isFound: boolean;
}

/**
 * Gives a key to a contact, whose keys the caller must have locked, and removes its previous key. Returns whether the
 * contact then has the key (see `isFound`). Throws a Refusal if another person's contact has the key and does not yield
 * it.
 */
export const takeKey = async (
  db: Transaction,
  row: ContactRow,
  field: KeyField,
  value: string,
  { time, by = null, isFound }: KeyChange,
): Promise<boolean> => {
  if (row[field] === value) return true;
  if (!(await insertKey(db, field, value, row))) {
    const place = await db.get<{ contact: number }>(
      `SELECT contact FROM ${tables[field]} WHERE account = $1 AND "${field}" = $2`,
      [row.account, value],
    );
    const [holder] = place ? await readContacts(db, [place.contact]) : [];
    // The other contact was erased or gave up the key in the meantime.
    if (holder?.[field] !== value) throw new ConcurrentChange();
    const target = await readAnswering(db, row.contact);
    if (isFound && (await readAnswering(db, holder.contact)).contact === target.contact) return false;
    if (!(await canReleaseKey(db, holder, field))) throw keyTaken(field);
    // Merges must not run concurrently (merges.ts).
    db.requireExclusive();
    await deleteKey(db, field, holder);
    await db.run(
      `UPDATE contact SET "${field}" = NULL${field === 'contactExternalID' ? ', "externalIDClaim" = NULL' : ''}
       WHERE account = $1 AND contact = $2`,
      [row.account, holder.contact],
    );
    await mergeInto(db, target.contact, holder.contact, time);
    const subject = { contactUUID: target.contactUUID, otherContactUUID: holder.contactUUID };
    await runOperation(db, recordAudit({ action: 'mergeContact', subject, account: row.account, by, time }));
    await insertKeys(db, row, [[field, value]]);
  }
  await deleteKey(db, field, row);
  return true;
};
