/** Implements ContactStore. */
import { type KeyField, plainFields } from '../../../identity/contact-view.ts';
import type { ContactStore } from '../../operations/contact-store.ts';
import { type CreatedContact, toStoredFields } from '../../rules/contact-changes.ts';
import type { Connection } from '../database/connection.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { ContactFinder } from './contact-finder.ts';
import { type ContactRow, createMergeReader } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';

const prepareWrites = (db: Connection) => {
  const insert = `
    INSERT INTO contact (account, contactUUID, contactExternalID, externalIDClaim, contactEmailaddress, contactStatus, verified,
      createdTime, updatedTime)
    VALUES (@account, @newContactUUID, @externalID, @externalIDClaim, @address, 'active', @verified, @time, @time)`;
  return {
    insert: db.prepare<unknown[], ContactRow>(`${insert} RETURNING *`),
    // Both statements do the same work whether or not the key exists, so that the response time does not reveal to a
    // browser token whether it does.
    upsertAddress: db.prepare<unknown[], ContactRow>(`
      ${insert} ON CONFLICT (account, contactEmailaddress) DO UPDATE SET verified = max(verified, @verified) RETURNING *`),
    upsertExternalID: db.prepare<unknown[], ContactRow>(`
      ${insert} ON CONFLICT (account, contactExternalID) WHERE contactExternalID > ''
      DO UPDATE SET externalIDClaim = iif(@externalIDClaim IS NULL, NULL, externalIDClaim) RETURNING *`),
    verify: {
      contactEmailaddress: db.prepare('UPDATE contact SET verified = 1 WHERE contact = ?'),
      contactExternalID: db.prepare('UPDATE contact SET externalIDClaim = NULL WHERE contact = ?'),
    },
    clear: {
      contactEmailaddress: db.prepare('UPDATE contact SET contactEmailaddress = NULL WHERE contact = ?'),
      contactExternalID: db.prepare(
        'UPDATE contact SET contactExternalID = NULL, externalIDClaim = NULL WHERE contact = ?',
      ),
    },
    save: db.prepare(`
      UPDATE contact SET ${plainFields.map((name) => `${name} = @${name}`).join(', ')}, contactStatus = @contactStatus,
        contactExternalID = @contactExternalID, externalIDClaim = @externalIDClaim, contactEmailaddress = @contactEmailaddress,
        verified = @verified, updatedTime = @updatedTime
      WHERE contact = @contact`),
    setExternalID: db.prepare('UPDATE contact SET contactExternalID = ?, externalIDClaim = ? WHERE contact = ?'),
    setMerged: db.prepare('UPDATE contact SET mergedInto = ?, mergedTime = ? WHERE contact = ?'),
    setTag: db.prepare(
      'INSERT INTO contact_tag VALUES (?, ?, ?) ON CONFLICT (contact, tagID) DO UPDATE SET opt = excluded.opt',
    ),
    setAttribute: db.prepare(
      'INSERT INTO contact_attr VALUES (?, ?, ?) ON CONFLICT (contact, attrID) DO UPDATE SET attrValue = excluded.attrValue',
    ),
  };
};

export const createContactStore = (db: Connection, finder: ContactFinder, sequencer: Sequencer): ContactStore => {
  const { groupOf, recordsOf } = createContactViews(db);
  const merges = createMergeReader(db);
  const writes = prepareWrites(db);

  const findByKey = (account: number, field: KeyField, value: string) =>
    field === 'contactExternalID' ? finder.byExternalID(account, value) : finder.byAddress(account, value);

  return {
    drawSequence: sequencer.nextSequence,
    find: finder.byName,
    get: (contact) => finder.get(contact) as ContactRow,
    findByKey,
    isErasedClaim: finder.isErasedClaim,
    followMerges: (row) => (row.mergedInto === null ? row : finder.followMerges(row.contact)),
    readMerges: merges.from,
    readGroup: groupOf,
    readRecords: (group: readonly ContactRow[]) => recordsOf([group])[0] ?? [],
    lock: (row) => row,
    insert: ({ account, externalID, address, newContactUUID, time }) =>
      writes.insert.get({
        ...{ account, newContactUUID, time },
        externalID: externalID ?? null,
        externalIDClaim: null,
        address: address ?? null,
        verified: Number(address !== undefined),
      }) as ContactRow,
    ensure({ account, externalID, address, newContactUUID, verified, time }: CreatedContact) {
      const values = { account, newContactUUID, time };
      const row =
        address === undefined
          ? writes.upsertExternalID.get({
              ...values,
              externalID,
              externalIDClaim: verified ? null : 0,
              address: null,
              verified: 0,
            })
          : writes.upsertAddress.get({
              ...values,
              externalID: null,
              externalIDClaim: null,
              address,
              verified: Number(verified),
            });
      return row as ContactRow;
    },
    save(row, { change: { fields, addedTags, removedTags, attributes }, values: _, verified, ...columns }) {
      const { contact } = row;
      writes.save.run({ ...row, ...toStoredFields(fields), ...columns, verified: Number(verified) });
      for (const tagID of addedTags) writes.setTag.run(contact, tagID, 1);
      for (const tagID of removedTags) writes.setTag.run(contact, tagID, 0);
      for (const [attrID, attrValue] of attributes) writes.setAttribute.run(contact, attrID, attrValue);
    },
    reserveKey: ({ account }, field, value) => findByKey(account, field, value),
    clearKey: ({ contact }, field) => writes.clear[field].run(contact),
    verifyKey: ({ contact }, field) => writes.verify[field].run(contact),
    setExternalID: ({ contact }, externalID, claim) => writes.setExternalID.run(externalID, claim, contact),
    merge: ({ contact }, into, time) => writes.setMerged.run(into, time, contact),
    unmerge: ({ contact }) => writes.setMerged.run(null, null, contact),
  };
};
