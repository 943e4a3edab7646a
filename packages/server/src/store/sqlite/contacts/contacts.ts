/** Creates contacts, and writes the values that server tokens send. */
import { type KeyField, plainFields } from '../../../identity/contact-view.ts';
import { recordAudit } from '../../operations/audit.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { resolveMergedEntries } from '../../rules/accounts/entry-merges.ts';
import {
  type ContactUpdate,
  type CreatedContact,
  changedFields,
  type PutContact,
  toStoredFields,
} from '../../rules/contact-changes.ts';
import { keyTaken, otherExternalID, yieldsKey } from '../../rules/contact-keys.ts';
import type { Connection } from '../database/connection.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import { type ContactRow, createMergeReader } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';

/**
 * A planned assignment of a key. `yielding` is the contact that loses the key and is merged into the contact that gets
 * it.
 */
interface KeyPlan {
  readonly field: KeyField;
  readonly value: string;
  readonly yielding?: ContactRow | undefined;
}

export const createContactWriter = (db: Connection) => {
  const finder = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  const merges = createMergeReader(db);
  const claims = createClaimReader(db);
  const runOperation = createOperationRunner(db);
  const insert = `
    INSERT INTO contact (account, contactUUID, contactExternalID, externalIDClaim, contactEmailaddress, contactStatus, verified,
      createdTime, updatedTime)
    VALUES (@account, @newContactUUID, @externalID, @externalIDClaim, @address, 'active', @verified, @time, @time)`;
  const insertNew = db.prepare<unknown[], ContactRow>(`${insert} RETURNING *`);
  // Both do the same work whether or not the key exists: a browser token must not learn that from the response time.
  const upsertAddress = db.prepare<unknown[], ContactRow>(`
    ${insert} ON CONFLICT (account, contactEmailaddress) DO UPDATE SET verified = max(verified, @verified) RETURNING *`);
  const upsertExternalID = db.prepare<unknown[], ContactRow>(`
    ${insert} ON CONFLICT (account, contactExternalID) WHERE contactExternalID > ''
    DO UPDATE SET externalIDClaim = iif(@externalIDClaim IS NULL, NULL, externalIDClaim) RETURNING *`);
  const verifyAddress = db.prepare('UPDATE contact SET verified = 1 WHERE contact = ? AND NOT verified');
  const verifyExternalID = db.prepare(
    'UPDATE contact SET externalIDClaim = NULL WHERE contact = ? AND externalIDClaim IS NOT NULL',
  );
  const setFields = db.prepare(`
    UPDATE contact SET ${plainFields.map((name) => `${name} = @${name}`).join(', ')}, contactStatus = @contactStatus,
      contactExternalID = @contactExternalID, externalIDClaim = @externalIDClaim, contactEmailaddress = @contactEmailaddress,
      verified = @verified
    WHERE contact = @contact`);
  const setExternalID = db.prepare('UPDATE contact SET contactExternalID = ?, externalIDClaim = ? WHERE contact = ?');
  const yieldKey = {
    contactEmailaddress: db.prepare(
      'UPDATE contact SET contactEmailaddress = NULL, mergedInto = ?, mergedTime = ? WHERE contact = ?',
    ),
    contactExternalID: db.prepare(
      'UPDATE contact SET contactExternalID = NULL, externalIDClaim = NULL, mergedInto = ?, mergedTime = ? WHERE contact = ?',
    ),
  };
  const setTime = db.prepare('UPDATE contact SET updatedTime = ? WHERE contact = ?');
  const setTag = db.prepare(
    'INSERT INTO contact_tag VALUES (?, ?, ?) ON CONFLICT (contact, tagID) DO UPDATE SET opt = excluded.opt',
  );
  const setAttribute = db.prepare(
    'INSERT INTO contact_attr VALUES (?, ?, ?) ON CONFLICT (contact, attrID) DO UPDATE SET attrValue = excluded.attrValue',
  );

  const holderOf = (account: number, field: KeyField, value: string) =>
    field === 'contactExternalID' ? finder.byExternalID(account, value) : finder.byAddress(account, value);

  const mayYield = (holder: ContactRow, field: KeyField): boolean =>
    yieldsKey(holder, field) && merges.group(holder.contact).length === 1 && !claims.hasAccepted(holder.contact);

  /**
   * Plans the assignment of a key to a contact. Writes nothing. Returns undefined, only with `isFound`, if another
   * contact of the same person has it. Throws a Refusal if another person's contact has it and does not yield.
   */
  const planKey = (row: ContactRow, field: KeyField, value: string, isFound: boolean): KeyPlan | undefined => {
    const holder = holderOf(row.account, field, value);
    if (!holder || holder.contact === row.contact) return { field, value };
    if (isFound && merges.follow(holder.contact) === merges.follow(row.contact)) return undefined;
    if (!mayYield(holder, field)) throw keyTaken(field);
    return { field, value, yielding: holder };
  };

  /**
   * Finds the contact that a server token identifies by external ID and address: the contact with the external ID,
   * unless it yields to the contact with the address.
   */
  const findByKeys = ({ account, externalID, address }: Pick<CreatedContact, 'account' | 'externalID' | 'address'>) => {
    const byID = externalID === undefined ? undefined : finder.byExternalID(account, externalID);
    const byAddress = address === undefined ? undefined : finder.byAddress(account, address);
    const isByAddress =
      byAddress && (!byID || (mayYield(byID, 'contactExternalID') && !mayYield(byAddress, 'contactEmailaddress')));
    return { found: isByAddress ? byAddress : byID, keys: isByAddress ? { externalID } : { address } };
  };

  /** Takes keys from the contacts that yield them, and merges these contacts into the contact `into`. */
  const takeKeys = (
    plans: readonly KeyPlan[],
    into: number,
    { time, by = null }: { time: number; by?: number | null | undefined },
  ) => {
    for (const { field, yielding } of plans) {
      if (!yielding) continue;
      const kept = finder.followMerges(into);
      yieldKey[field].run(kept.contact, time, yielding.contact);
      const subject = { contactUUID: kept.contactUUID, otherContactUUID: yielding.contactUUID };
      runOperation(recordAudit({ action: 'mergeContact', subject, account: kept.account, by, time }));
    }
  };

  /**
   * Writes to the contact at the end of `row`'s merges. Returns its contactUUID and the names of the fields whose
   * visible value changed. Throws a Refusal before any write if another person has one of the new keys.
   */
  const write = (row: ContactRow, request: ContactUpdate): { contactUUID: string; updated: string[] } => {
    const kept = finder.followMerges(row.contact);
    const entryMerges = runOperation(readEntryMerges(kept.account));
    const change = resolveMergedEntries(request, entryMerges);
    const { contact, contactUUID } = kept;
    const { addedTags, removedTags, attributes, contactStatus = kept.contactStatus, time, isFound = false } = change;
    const { externalID, address } = change.keys;
    const before = viewOf(groupOf(kept), entryMerges);
    if (isFound && typeof externalID === 'string') {
      const other = otherExternalID(before, externalID);
      if (other) throw other;
    }
    const planOfAddress = address === undefined ? undefined : planKey(kept, 'contactEmailaddress', address, isFound);
    const planOfID =
      typeof externalID === 'string' ? planKey(kept, 'contactExternalID', externalID, isFound) : undefined;
    takeKeys(
      [planOfAddress, planOfID].flatMap((plan) => plan ?? []),
      contact,
      change,
    );

    setFields.run({
      ...kept,
      ...toStoredFields(change.fields),
      ...(externalID === null && { contactExternalID: '', externalIDClaim: null }),
      ...(planOfID && { contactExternalID: planOfID.value, externalIDClaim: null }),
      ...(planOfAddress && { contactEmailaddress: planOfAddress.value, verified: 1 }),
      contactStatus,
    });
    for (const tagID of addedTags) setTag.run(contact, tagID, 1);
    for (const tagID of removedTags) setTag.run(contact, tagID, 0);
    for (const [attrID, attrValue] of attributes) setAttribute.run(contact, attrID, attrValue);
    const updated = changedFields(before, viewOf(groupOf(kept), entryMerges));
    if (contactStatus !== kept.contactStatus) updated.push('contactStatus');
    if (updated.length > 0) setTime.run(time, contact);
    return { contactUUID, updated };
  };

  return {
    ...finder,
    findByKeys,

    /**
     * For a browser token: finds or creates the contact with the address or, if there is no address, the external ID.
     */
    ensure({ account, externalID, address, newContactUUID, verified, time }: CreatedContact): ContactRow {
      const values = { account, newContactUUID, time };
      return (
        address === undefined
          ? upsertExternalID.get({
              ...values,
              externalID,
              externalIDClaim: verified ? null : 0,
              address: null,
              verified: 0,
            })
          : upsertAddress.get({
              ...values,
              externalID: null,
              externalIDClaim: null,
              address,
              verified: Number(verified),
            })
      ) as ContactRow;
    },

    /**
     * For a server token: finds a contact by external ID or address, or creates one, and writes to the end of its
     * merges. A null external ID is cleared. Returns the found contact, and the contactUUID of the written one.
     */
    put(
      { account, externalID: sentID, address, newContactUUID }: PutContact,
      change: Omit<ContactUpdate, 'keys'>,
    ): { row: ContactRow; existed: boolean; contactUUID: string } {
      const externalID = sentID ?? undefined;
      const { found, keys } = findByKeys({ account, externalID, address });
      const row =
        found ??
        (insertNew.get({
          account,
          newContactUUID,
          externalID: externalID ?? null,
          externalIDClaim: null,
          address: address ?? null,
          verified: Number(address !== undefined),
          time: change.time,
        }) as ContactRow);
      const newKeys = sentID === null ? { externalID: sentID } : found ? keys : {};
      const { contactUUID } = write(row, { ...change, keys: newKeys, isFound: true });
      if (externalID !== undefined) {
        const holder = finder.byExternalID(account, externalID);
        if (holder) verifyExternalID.run(holder.contact);
      }
      if (address !== undefined) {
        const holder = finder.byAddress(account, address);
        if (holder) verifyAddress.run(holder.contact);
      }
      return { row, existed: found !== undefined, contactUUID };
    },

    write,

    /**
     * Assigns the external ID of an accepted claim to the contact, unless it has one, had one cleared, or shares it
     * with another contact of the same person. Throws a Refusal if another person has it.
     */
    acceptExternalID(
      contact: number,
      {
        claim,
        externalID,
        ...origin
      }: { claim: number; externalID: string; time: number; by?: number | null | undefined },
    ): void {
      const row = finder.get(contact) as ContactRow;
      if (row.contactExternalID !== null) return;
      const plan = planKey(row, 'contactExternalID', externalID, true);
      if (!plan) return;
      takeKeys([plan], contact, origin);
      setExternalID.run(externalID, claim, contact);
    },

    /** Removes the external ID that a contact has from a claim. */
    withdrawExternalID(contact: number, claim: number): void {
      if (finder.get(contact)?.externalIDClaim === claim) setExternalID.run(null, null, contact);
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
