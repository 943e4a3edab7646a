/** Finds or creates the contact with the keys of a request. */
import type { ContactUpdate, CreatedContact, PutContact } from '../../rules/contact-changes.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { canReleaseKey, insertKeys } from './contact-keys.ts';
import type { ContactRow } from './contact-rows.ts';
import type { ContactWriter } from './contacts.ts';

/** The keys of a request, in lock order. */
const keysOf = ({ address, externalID }: Pick<CreatedContact, 'address' | 'externalID'>) => [
  ...(address === undefined ? [] : [['contactEmailaddress', address] as const]),
  ...(externalID === undefined ? [] : [['contactExternalID', externalID] as const]),
];

const noValues = '{"fields": {}, "tags": [], "attributes": []}';

/**
 * Finds or creates the contact with the address, or without one, with the external ID. Does the same work in both
 * cases, so that the response time does not reveal to a browser token whether the key is known.
 */
export const ensureContact = async (
  db: Transaction,
  { externalID, address, newContactUUID, verified, time }: CreatedContact,
): Promise<{ row: ContactRow; existed: boolean }> => {
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
  // A cluster's coordinator that was restored from a backup may draw the number of another contact.
  if (row.contactUUID !== contactUUID) throw new Error(`the contact number ${contact} was assigned to two contacts`);
  return { row, existed: contactUUID !== newContactUUID };
};

/**
 * Creates a contact with an external ID and an address. Throws ConcurrentChange if another contact got one of them
 * meanwhile.
 */
const insertWithBoth = async (
  db: Transaction,
  { externalID, address, newContactUUID, time }: CreatedContact,
): Promise<ContactRow> => {
  const { account } = db;
  const { contact } = await db.one<{ contact: number }>(`SELECT nextval('contact_number') AS contact`);
  await insertKeys(db, { account, contact, contactUUID: newContactUUID }, keysOf({ externalID, address }));
  const [, row] = await Promise.all([
    db.run('INSERT INTO contact_name (account, "contactUUID", contact) VALUES ($1, $2, $3)', [
      account,
      newContactUUID,
      contact,
    ]),
    db.one<ContactRow>(
      `INSERT INTO contact (account, contact, "contactUUID", "contactExternalID", "contactEmailaddress", said, "contactStatus",
         verified, "createdTime", "updatedTime")
       VALUES ($1, $2, $3, $4, $5, '${noValues}', 'active', true, $6, $6) RETURNING *`,
      [account, contact, newContactUUID, externalID, address, time],
    ),
  ]);
  return row;
};

/** The contact with the keys, and the contactUUID of the contact at the end of its merges. */
interface PutAnswer {
  readonly row: ContactRow;
  readonly existed: boolean;
  readonly contactUUID: string;
}

/**
 * Creates the operation of server tokens: finds or creates a contact by its external ID or else its address, and writes
 * to the contact at the end of its merges. A null external ID is cleared.
 */
export const createPutContact = (finder: ContactFinder, { write }: Pick<ContactWriter, 'write'>) => {
  /** Records that a server token has sent these keys. */
  const verifyKeys = async (
    db: Transaction,
    { externalID, address }: Pick<CreatedContact, 'externalID' | 'address'>,
  ): Promise<void> => {
    const [byID, byAddress] = await Promise.all([
      externalID === undefined ? undefined : finder.byExternalID(db, externalID),
      address === undefined ? undefined : finder.byAddress(db, address),
    ]);
    if (byID && byID.externalIDClaim !== null) {
      await db.run('UPDATE contact SET "externalIDClaim" = NULL WHERE account = $1 AND contact = $2', [
        db.account,
        byID.contact,
      ]);
    }
    if (byAddress && !byAddress.verified) {
      await db.run('UPDATE contact SET verified = true WHERE account = $1 AND contact = $2', [
        db.account,
        byAddress.contact,
      ]);
    }
  };

  /** For a request with an external ID and an address. */
  const putWithBoth = async (
    db: Transaction,
    request: CreatedContact & { readonly externalID: string; readonly address: string },
    change: Omit<ContactUpdate, 'keys'>,
  ): Promise<PutAnswer> => {
    const { externalID, address } = request;
    const [byID, byAddress] = await Promise.all([finder.byExternalID(db, externalID), finder.byAddress(db, address)]);
    // A contact whose external ID was sent only by pages yields to the contact with the address.
    const isByAddress =
      byAddress &&
      (!byID ||
        ((await canReleaseKey(db, byID, 'contactExternalID')) &&
          !(await canReleaseKey(db, byAddress, 'contactEmailaddress'))));
    const existing = isByAddress ? byAddress : byID;
    const row = existing ?? (await insertWithBoth(db, request));
    const keys = existing === undefined ? {} : isByAddress ? { externalID } : { address };
    const { contactUUID } = await write(db, row, { ...change, keys, isFound: true }, existing === undefined);
    await verifyKeys(db, request);
    return { row, existed: existing !== undefined, contactUUID };
  };

  /** For a request that clears the external ID of the contact with the address. */
  const putWithoutID = async (
    db: Transaction,
    request: CreatedContact & { readonly address: string },
    change: Omit<ContactUpdate, 'keys'>,
  ): Promise<PutAnswer> => {
    // Not `ensureContact`, which locks an existing contact's row before its keys, against the lock order
    // (row-locks.ts).
    const existing = await finder.byAddress(db, request.address);
    const { row, existed } = existing ? { row: existing, existed: true } : await ensureContact(db, request);
    const { contactUUID } = await write(db, row, { ...change, keys: { externalID: null } }, !existed);
    await verifyKeys(db, request);
    return { row, existed, contactUUID };
  };

  return async (
    db: Transaction,
    { externalID: requestedID, ...request }: PutContact,
    change: Omit<ContactUpdate, 'keys'>,
  ): Promise<PutAnswer> => {
    const externalID = requestedID ?? undefined;
    const { address } = request;
    const created = { ...request, externalID, verified: true, time: change.time };
    if (requestedID === null && address !== undefined) return putWithoutID(db, { ...created, address }, change);
    if (externalID !== undefined && address !== undefined) {
      return putWithBoth(db, { ...created, externalID, address }, change);
    }
    const { row, existed } = await ensureContact(db, created);
    const { contactUUID } = await write(db, row, { ...change, keys: {} }, !existed);
    return { row, existed, contactUUID };
  };
};
export type PutContactOperation = ReturnType<typeof createPutContact>;
