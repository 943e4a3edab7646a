/** Writes contact values from server tokens. */
import type { ContactView, KeyField } from '../../../identity/contact-view.ts';
import type { ContactMerges } from '../../../identity/merged-entries.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { resolveMergedEntries } from '../../rules/accounts/entry-merges.ts';
import type { ClaimRow } from '../../rules/claims.ts';
import { type ContactUpdate, changedFields, toStoredFields } from '../../rules/contact-changes.ts';
import { otherExternalID, toNewKeys } from '../../rules/contact-keys.ts';
import type { ContactChange } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import { ConcurrentChange } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { claimsOf } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { deleteKey, takeKey } from './contact-keys.ts';
import type { ContactRow, OwnValues } from './contact-rows.ts';
import { rowsOf, viewOf } from './contact-views.ts';
import { haveEqualKeys, lockContactKeys } from './row-locks.ts';

const withChange = ({ fields, tags, attributes }: OwnValues, change: ContactUpdate): OwnValues => {
  const changedTags = new Map(tags);
  for (const tagID of change.addedTags) changedTags.set(tagID, true);
  for (const tagID of change.removedTags) changedTags.set(tagID, false);
  return {
    fields: { ...fields, ...toStoredFields(change.fields) },
    tags: [...changedTags],
    attributes: [...new Map([...attributes, ...change.attributes])],
  };
};

export const createContactWriter = (finder: ContactFinder, catalogues: CatalogueWriter) => {
  /**
   * Locks and returns the contact at the end of `row`'s merges, and its keys. Throws ConcurrentChange if it changed
   * meanwhile.
   */
  const lockAnswering = async (db: Transaction, row: ContactRow, changesKeys: boolean): Promise<ContactRow> => {
    const answering = await finder.answering(db, row);
    if (changesKeys) await lockContactKeys(db, [answering]);
    const locked = await db.get<ContactRow>(
      'SELECT * FROM contact WHERE account = $1 AND contact = $2 FOR NO KEY UPDATE',
      [db.account, answering.contact],
    );
    if (!locked || (changesKeys && !haveEqualKeys(locked, answering))) throw new ConcurrentChange();
    return locked;
  };

  /**
   * Reads everything for a contact's view except its own row. Returns a function that builds the view with a given row.
   */
  const createViewReader = async (
    db: Transaction,
    target: ContactRow,
    merges: ContactMerges,
  ): Promise<(row: ContactRow) => ContactView> => {
    const [[, ...merged] = []] = await rowsOf(db, [target]);
    const claims = await claimsOf(
      db,
      [target, ...merged].map(({ contact }) => contact),
    );
    return (row) => viewOf([row, ...merged], claims, merges);
  };

  /** `isNew`: this transaction created the contact, so it cannot have merges or claims. */
  const write = async (
    db: Transaction,
    row: ContactRow,
    request: ContactUpdate,
    isNew = false,
  ): Promise<{ contactUUID: string; updated: string[] }> => {
    const merges = await runOperation(db, readEntryMerges(row.account));
    const change = resolveMergedEntries(request, merges);
    const { externalID, address } = change.keys;
    const { time, by, isFound = false } = change;
    const changesKeys = externalID !== undefined || address !== undefined;
    const target = isNew ? row : await lockAnswering(db, row, changesKeys);
    const { contact, contactUUID } = target;
    const view = isNew ? (own: ContactRow) => viewOf([own], [], merges) : await createViewReader(db, target, merges);
    const before = view(target);
    if (isFound && typeof externalID === 'string') {
      const other = otherExternalID(before, externalID);
      if (other) throw other;
    }
    const take = (field: KeyField, value: string) => takeKey(db, target, field, value, { time, by, isFound });
    const hasAddress = address !== undefined && (await take('contactEmailaddress', address));
    const hasExternalID = typeof externalID === 'string' && (await take('contactExternalID', externalID));
    if (externalID === null) await deleteKey(db, 'contactExternalID', target);
    const after: ContactRow = {
      ...target,
      said: withChange(target.said, change),
      ...(externalID === null && { contactExternalID: '', externalIDClaim: null }),
      ...(hasExternalID && { contactExternalID: externalID, externalIDClaim: null }),
      ...(hasAddress && { contactEmailaddress: address, verified: true }),
      contactStatus: change.contactStatus ?? target.contactStatus,
    };
    // A contact that yielded a key is now merged into this contact.
    const viewAfter = hasAddress || hasExternalID ? await createViewReader(db, after, merges) : view;
    const updated = changedFields(before, viewAfter(after));
    if (after.contactStatus !== target.contactStatus) updated.push('contactStatus');
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
        updated.length > 0 ? time : target.updatedTime,
      ],
    );
    return { contactUUID, updated };
  };

  return {
    /**
     * Writes to the contact at the end of `row`'s merges. Returns its contactUUID and the fields whose visible values
     * changed. Throws a Refusal if another person has one of the new keys.
     */
    write,

    /**
     * Makes the external ID of an accepted claim the contact's own, unless the contact has one, had one cleared, or
     * shares it with another contact of the same person. Throws a Refusal if another person has it.
     */
    async acceptExternalID(
      db: Transaction,
      { contact, claim }: Pick<ClaimRow, 'contact' | 'claim'>,
      { externalID, ...act }: { externalID: string; time: number; by?: number | null | undefined },
    ): Promise<void> {
      const found = await finder.get(db, contact);
      if (!found) throw new ConcurrentChange();
      await lockContactKeys(db, [found]);
      const row = await db.get<ContactRow>(
        'SELECT * FROM contact WHERE account = $1 AND contact = $2 FOR NO KEY UPDATE',
        [db.account, contact],
      );
      if (!row || !haveEqualKeys(row, found)) throw new ConcurrentChange();
      if (row.contactExternalID !== null) return;
      if (!(await takeKey(db, row, 'contactExternalID', externalID, { ...act, isFound: true }))) return;
      await db.run(
        'UPDATE contact SET "contactExternalID" = $3, "externalIDClaim" = $4 WHERE account = $1 AND contact = $2',
        [db.account, contact, externalID, claim],
      );
    },

    /** Removes the external ID that a contact got from a claim. */
    async withdrawExternalID(db: Transaction, { contact, claim }: Pick<ClaimRow, 'contact' | 'claim'>): Promise<void> {
      const found = await finder.get(db, contact);
      if (found?.externalIDClaim !== claim) return;
      await lockContactKeys(db, [found]);
      const withdrawn = await db.run(
        `UPDATE contact SET "contactExternalID" = NULL, "externalIDClaim" = NULL
         WHERE account = $1 AND contact = $2 AND "contactExternalID" = $3 AND "externalIDClaim" = $4`,
        [db.account, contact, found.contactExternalID, claim],
      );
      if (withdrawn === 0) throw new ConcurrentChange();
      await deleteKey(db, 'contactExternalID', found);
    },

    async updateContact(db: Transaction, change: ContactChange): Promise<{ contactUUID: string; updated: string[] }> {
      const row = await finder.byName(db, change);
      const uses = usesOfContact({ ...change, tags: change.addedTags });
      await catalogues.check(db, db.account, { browser: false, uses });
      const answer = await write(db, row, { ...change, keys: toNewKeys(change) });
      await catalogues.register(db, db.account, [{ browser: false, uses }]);
      return answer;
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
