/** Creates contacts, and writes the values that server tokens send. */
import type { ContactView, KeyField } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { changeAsKept } from '../../rules/accounts/entry-merges.ts';
import type { ClaimRow } from '../../rules/claims.ts';
import {
  type CreatedContact,
  changedFields,
  type PutContact,
  type WrittenContact,
  writtenFields,
} from '../../rules/contact-changes.ts';
import { newKeysOf, otherExternalID } from '../../rules/contact-keys.ts';
import type { ContactChange } from '../../store.ts';
import { type CatalogueWriter, readMerges } from '../accounts/catalogues.ts';
import { Overtaken } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { claimsOf } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { deleteKey, insertKeys, mayGiveWay, takeKey } from './contact-keys.ts';
import type { ContactRow, OwnValues } from './contact-rows.ts';
import { rowsOf, viewOf } from './contact-views.ts';
import { haveSameKeys, holdKeys } from './held-rows.ts';

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

/** The keys of a request, in the order in which their rows are held. */
const keysOf = ({ address, externalID }: Pick<CreatedContact, 'address' | 'externalID'>) => [
  ...(address === undefined ? [] : [['contactEmailaddress', address] as const]),
  ...(externalID === undefined ? [] : [['contactExternalID', externalID] as const]),
];

const noValues = '{"fields": {}, "tags": [], "attributes": []}';

export const createContactWriter = (finder: ContactFinder, catalogues: CatalogueWriter) => {
  /** The contact that `row` is merged into at last, with its row and its keys held. Throws Overtaken when it changed meanwhile. */
  const holdAnswering = async (db: Transaction, row: ContactRow, changesKeys: boolean): Promise<ContactRow> => {
    const found = await finder.answering(db, row);
    if (changesKeys) await holdKeys(db, [found]);
    const kept = await db.get<ContactRow>(
      'SELECT * FROM contact WHERE account = $1 AND contact = $2 FOR NO KEY UPDATE',
      [db.account, found.contact],
    );
    if (!kept || (changesKeys && !haveSameKeys(kept, found))) throw new Overtaken();
    return kept;
  };

  /** Reads what a contact's view is made of besides its own row, and returns a function that returns its view with a row. */
  const viewing = async (
    db: Transaction,
    kept: ContactRow,
    merges: ContactMerges,
  ): Promise<(row: ContactRow) => ContactView> => {
    const [[, ...merged] = []] = await rowsOf(db, [kept]);
    const claims = await claimsOf(
      db,
      [kept, ...merged].map(({ contact }) => contact),
    );
    return (row) => viewOf([row, ...merged], claims, merges);
  };

  /** `isNew`: this transaction has created the contact, so that nobody else has seen it, merged it or made claims about it. */
  const write = async (
    db: Transaction,
    row: ContactRow,
    given: WrittenContact,
    isNew = false,
  ): Promise<{ contactUUID: string; updated: string[] }> => {
    const merges = await readMerges(db, row.account);
    const change = changeAsKept(given, merges);
    const { externalID, address } = change.keys;
    const { time, by, isFound = false } = change;
    const changesKeys = externalID !== undefined || address !== undefined;
    const kept = isNew ? row : await holdAnswering(db, row, changesKeys);
    const { contact, contactUUID } = kept;
    const view = isNew ? (own: ContactRow) => viewOf([own], [], merges) : await viewing(db, kept, merges);
    const before = view(kept);
    if (isFound && typeof externalID === 'string') {
      const other = otherExternalID(before, externalID);
      if (other) throw other;
    }
    const take = (field: KeyField, value: string) => takeKey(db, kept, field, value, { time, by, isFound });
    const hasAddress = address !== undefined && (await take('contactEmailaddress', address));
    const hasExternalID = typeof externalID === 'string' && (await take('contactExternalID', externalID));
    if (externalID === null) await deleteKey(db, 'contactExternalID', kept);
    const after: ContactRow = {
      ...kept,
      said: withChange(kept.said, change),
      ...(externalID === null && { contactExternalID: '', externalIDClaim: null }),
      ...(hasExternalID && { contactExternalID: externalID, externalIDClaim: null }),
      ...(hasAddress && { contactEmailaddress: address, verified: true }),
      contactStatus: change.contactStatus ?? kept.contactStatus,
    };
    // Whoever gave way to the contact is merged into it now.
    const viewAfter = hasAddress || hasExternalID ? await viewing(db, after, merges) : view;
    const updated = changedFields(before, viewAfter(after));
    if (after.contactStatus !== kept.contactStatus) updated.push('contactStatus');
    await db.run(
      `UPDATE contact SET said = $3, "contactExternalID" = $4, "externalIDClaim" = $5, "contactEmailaddress" = $6, verified = $7,
         "contactStatus" = $8, "updatedTime" = $9
       WHERE account = $1 AND contact = $2`,
      [
        db.account,
        contact,
        JSON.stringify(after.said),
        after.contactExternalID,
        after.externalIDClaim,
        after.contactEmailaddress,
        after.verified,
        after.contactStatus,
        updated.length > 0 ? time : kept.updatedTime,
      ],
    );
    return { contactUUID, updated };
  };

  /**
   * Returns the contact with the address, or without one with the external ID; creates it if there is none. Does the same work
   * whether or not the key is known, so that the response time does not show it to a browser token.
   */
  const ensure = async (
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
    // On a cluster, a coordinator that was restored from a backup may draw the number of another contact.
    if (row.contactUUID !== contactUUID) throw new Error(`the number ${contact} was given to two contacts`);
    return { row, existed: contactUUID !== newContactUUID };
  };

  /** Creates a contact with an external ID and an address. Throws Overtaken when another contact gets one of them meanwhile. */
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

  /** Notes that a server token has sent these keys. */
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

  /** As `put`, for a request with an external ID and an address. */
  const putWithBoth = async (
    db: Transaction,
    request: CreatedContact & { readonly externalID: string; readonly address: string },
    change: Omit<WrittenContact, 'keys'>,
  ): Promise<{ row: ContactRow; existed: boolean; contactUUID: string }> => {
    const { externalID, address } = request;
    const [byID, byAddress] = await Promise.all([finder.byExternalID(db, externalID), finder.byAddress(db, address)]);
    // A contact that only pages know by the external ID gives way to that with the address.
    const isByAddress =
      byAddress &&
      (!byID ||
        ((await mayGiveWay(db, byID, 'contactExternalID')) &&
          !(await mayGiveWay(db, byAddress, 'contactEmailaddress'))));
    const found = isByAddress ? byAddress : byID;
    const row = found ?? (await insertWithBoth(db, request));
    const keys = found === undefined ? {} : isByAddress ? { externalID } : { address };
    const { contactUUID } = await write(db, row, { ...change, keys, isFound: true }, found === undefined);
    await verifyKeys(db, request);
    return { row, existed: found !== undefined, contactUUID };
  };

  /** As `put`, for a request that clears the external ID of the contact with the address. */
  const putWithoutID = async (
    db: Transaction,
    request: CreatedContact & { readonly address: string },
    change: Omit<WrittenContact, 'keys'>,
  ): Promise<{ row: ContactRow; existed: boolean; contactUUID: string }> => {
    // Not by `ensure`, which holds the row of a contact that exists: its keys must be held before (held-rows.ts).
    const found = await finder.byAddress(db, request.address);
    const { row, existed } = found ? { row: found, existed: true } : await ensure(db, request);
    const { contactUUID } = await write(db, row, { ...change, keys: { externalID: null } }, !existed);
    await verifyKeys(db, request);
    return { row, existed, contactUUID };
  };

  return {
    ensure,

    /**
     * For a server token: finds a contact by the external ID, or else by the address, or creates one, and writes to the contact
     * that answers for it. A null external ID is cleared. Returns the found contact and the contactUUID of the one that answers.
     */
    async put(
      db: Transaction,
      { externalID: given, ...request }: PutContact,
      change: Omit<WrittenContact, 'keys'>,
    ): Promise<{ row: ContactRow; existed: boolean; contactUUID: string }> {
      const externalID = given ?? undefined;
      const { address } = request;
      const created = { ...request, externalID, verified: true, time: change.time };
      if (given === null && address !== undefined) return putWithoutID(db, { ...created, address }, change);
      if (externalID !== undefined && address !== undefined) {
        return putWithBoth(db, { ...created, externalID, address }, change);
      }
      const { row, existed } = await ensure(db, created);
      const { contactUUID } = await write(db, row, { ...change, keys: {} }, !existed);
      return { row, existed, contactUUID };
    },

    /**
     * Writes to the contact at the end of `row`'s merges. Returns its contactUUID and the names of the fields whose visible values
     * changed. Throws a Refusal when somebody else has one of the new keys.
     */
    write,

    /**
     * Makes the external ID of an accepted claim the contact's own, unless that has one, had one cleared, or shares it with another
     * contact of the same person. Throws a Refusal when somebody else has it.
     */
    async acceptExternalID(
      db: Transaction,
      { contact, claim }: Pick<ClaimRow, 'contact' | 'claim'>,
      { externalID, ...act }: { externalID: string; time: number; by?: number | null | undefined },
    ): Promise<void> {
      const found = await finder.get(db, contact);
      if (!found) throw new Overtaken();
      await holdKeys(db, [found]);
      const row = await db.get<ContactRow>(
        'SELECT * FROM contact WHERE account = $1 AND contact = $2 FOR NO KEY UPDATE',
        [db.account, contact],
      );
      if (!row || !haveSameKeys(row, found)) throw new Overtaken();
      if (row.contactExternalID !== null) return;
      if (!(await takeKey(db, row, 'contactExternalID', externalID, { ...act, isFound: true }))) return;
      await db.run(
        'UPDATE contact SET "contactExternalID" = $3, "externalIDClaim" = $4 WHERE account = $1 AND contact = $2',
        [db.account, contact, externalID, claim],
      );
    },

    /** Takes back the external ID that a contact has from a claim. */
    async withdrawExternalID(db: Transaction, { contact, claim }: Pick<ClaimRow, 'contact' | 'claim'>): Promise<void> {
      const found = await finder.get(db, contact);
      if (found?.externalIDClaim !== claim) return;
      await holdKeys(db, [found]);
      const withdrawn = await db.run(
        `UPDATE contact SET "contactExternalID" = NULL, "externalIDClaim" = NULL
         WHERE account = $1 AND contact = $2 AND "contactExternalID" = $3 AND "externalIDClaim" = $4`,
        [db.account, contact, found.contactExternalID, claim],
      );
      if (withdrawn === 0) throw new Overtaken();
      await deleteKey(db, 'contactExternalID', found);
    },

    async updateContact(db: Transaction, change: ContactChange): Promise<{ contactUUID: string; updated: string[] }> {
      const row = await finder.byName(db, change);
      const uses = usesOfContact({ ...change, tags: change.addedTags });
      await catalogues.check(db, db.account, { browser: false, uses });
      const answer = await write(db, row, { ...change, keys: newKeysOf(change) });
      await catalogues.register(db, db.account, [{ browser: false, uses }]);
      return answer;
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
