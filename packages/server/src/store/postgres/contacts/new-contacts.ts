/** Creates contacts. */
import type { CreatedContact } from '../../rules/contact-changes.ts';
import { ConcurrentChange } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { insertKey } from './contact-keys.ts';
import type { ContactRow } from './contact-rows.ts';

const noValues = '{"fields": {}, "tags": [], "attributes": []}';

/** After a cluster's coordinator is restored from a backup, it can draw a number that another contact already has. */
const assignedTwice = (contact: number) => new Error(`contact number ${contact} was assigned to two contacts`);

/**
 * Finds or creates the contact with the address or, without one, the external ID. Does the same work in both cases, so
 * that the response time does not reveal to a browser token whether the key is known.
 */
export const ensureContact = async (
  db: Transaction,
  { externalID, address, newContactUUID, verified, time }: CreatedContact,
): Promise<ContactRow> => {
  const { account } = db;
  const isByID = address === undefined;
  const [table, column] = isByID
    ? ['contact_external_id', 'contactExternalID']
    : ['contact_address', 'contactEmailaddress'];
  const { contact, contactUUID } = await db.one<{ contact: number; contactUUID: string }>(
    `INSERT INTO ${table} (account, "${column}", contact, "contactUUID")
     VALUES ($1, $2, nextval('contact_number'), $3)
     ON CONFLICT (account, "${column}") DO UPDATE SET contact = ${table}.contact
     RETURNING contact, "contactUUID"`,
    [account, isByID ? externalID : address, newContactUUID],
  );
  const verify = isByID
    ? `"externalIDClaim" = CASE WHEN excluded."externalIDClaim" IS NULL THEN NULL ELSE contact."externalIDClaim" END`
    : 'verified = contact.verified OR excluded.verified';
  const [, row] = await Promise.all([
    db.run(`INSERT INTO contact_name (account, "contactUUID", contact) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, [
      account,
      contactUUID,
      contact,
    ]),
    db.one<ContactRow>(
      `INSERT INTO contact (account, contact, "contactUUID", "contactExternalID", "externalIDClaim", "contactEmailaddress", said,
         "contactStatus", verified, "createdTime", "updatedTime")
       VALUES ($1, $2, $3, $4, $5, $6, '${noValues}', 'active', $7, $8, $8)
       ON CONFLICT (account, contact) DO UPDATE SET ${verify} RETURNING *`,
      [
        account,
        contact,
        contactUUID,
        isByID ? externalID : null,
        isByID && !verified ? 0 : null,
        address ?? null,
        verified && !isByID,
        time,
      ],
    ),
  ]);
  if (row.contactUUID !== contactUUID) throw assignedTwice(contact);
  return row;
};

/**
 * Creates a contact with verified keys. Throws ConcurrentChange if another contact got one of the keys in the meantime.
 */
export const insertContact = async (
  db: Transaction,
  { externalID, address, newContactUUID, time }: Omit<CreatedContact, 'verified'>,
): Promise<ContactRow> => {
  const { account } = db;
  const { contact } = await db.one<{ contact: number }>(`SELECT nextval('contact_number') AS contact`);
  const place = { account, contact, contactUUID: newContactUUID };
  const hasKeys =
    (address === undefined || (await insertKey(db, 'contactEmailaddress', address, place))) &&
    (externalID === undefined || (await insertKey(db, 'contactExternalID', externalID, place)));
  if (!hasKeys) throw new ConcurrentChange();
  const [, [row]] = await Promise.all([
    db.run('INSERT INTO contact_name (account, "contactUUID", contact) VALUES ($1, $2, $3)', [
      account,
      newContactUUID,
      contact,
    ]),
    db.all<ContactRow>(
      `INSERT INTO contact (account, contact, "contactUUID", "contactExternalID", "contactEmailaddress", said, "contactStatus",
         verified, "createdTime", "updatedTime")
       VALUES ($1, $2, $3, $4, $5, '${noValues}', 'active', $6, $7, $7)
       ON CONFLICT (account, contact) DO NOTHING RETURNING *`,
      [account, contact, newContactUUID, externalID ?? null, address ?? null, address !== undefined, time],
    ),
  ]);
  if (row === undefined) throw assignedTwice(contact);
  return row;
};
