/** Implements ContactStore for a transaction's account. */
import type { ContactStore, SavedContact } from '../../operations/contact-store.ts';
import type { SequenceSource } from '../../operations/facts.ts';
import { claimName } from '../../rules/erased-names.ts';
import { ConcurrentChange } from '../database/connection.ts';
import { drawSequences } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import { deleteKey, findHolder, insertKey } from './contact-keys.ts';
import { type ContactRow, type OwnValues, pointersOf, readChains } from './contact-rows.ts';
import { recordsOf, rowsOf } from './contact-views.ts';
import { mergeInto, unmerge } from './merges.ts';
import { ensureContact, insertContact } from './new-contacts.ts';
import { haveEqualKeys, lockContactKeys } from './row-locks.ts';

/** Throws ConcurrentChange if the contact was deleted, or got other keys, since `row` was read. */
const lock = async (db: Transaction, row: ContactRow, changesKeys: boolean): Promise<ContactRow> => {
  if (changesKeys) await lockContactKeys(db, [row]);
  const locked = await db.get<ContactRow>(
    'SELECT * FROM contact WHERE account = $1 AND contact = $2 FOR NO KEY UPDATE',
    [db.account, row.contact],
  );
  if (!locked || !haveEqualKeys(locked, row)) throw new ConcurrentChange();
  return locked;
};

const save = async (db: Transaction, row: ContactRow, { values, ...saved }: SavedContact): Promise<void> => {
  for (const field of ['contactEmailaddress', 'contactExternalID'] as const)
    if (row[field] !== saved[field]) await deleteKey(db, field, row);
  const { contactExternalID: _, contactEmailaddress: __, ...fields } = values.fields;
  const said: OwnValues = { fields, tags: [...values.tags], attributes: [...values.attributes] };
  await db.run(
    `UPDATE contact SET said = $3, "contactExternalID" = $4, "externalIDClaim" = $5, "contactEmailaddress" = $6, verified = $7,
       "contactStatus" = $8, "updatedTime" = $9
     WHERE account = $1 AND contact = $2`,
    [
      db.account,
      row.contact,
      JSON.stringify(said),
      saved.contactExternalID,
      saved.externalIDClaim,
      saved.contactEmailaddress,
      saved.verified,
      saved.contactStatus,
      saved.updatedTime,
    ],
  );
};

export const createSequenceSource = (db: Transaction): SequenceSource => ({
  drawSequence: async () => (await drawSequences(db, 1))[0] as number,
});

export const createContactStore = (db: Transaction, finder: ContactFinder): ContactStore => {
  const update = (columns: string, { contact }: Pick<ContactRow, 'contact'>, ...values: unknown[]) =>
    db.run(`UPDATE contact SET ${columns} WHERE account = $1 AND contact = $2`, [db.account, contact, ...values]);
  return {
    ...createSequenceSource(db),
    find: (names, prefix) => finder.byName(db, names, prefix),
    async get(contact) {
      const row = await finder.get(db, contact);
      if (!row) throw new ConcurrentChange();
      return row;
    },
    findByKey: (_, field, value) =>
      field === 'contactExternalID' ? finder.byExternalID(db, value) : finder.byAddress(db, value),
    isErasedClaim: async (_, claimID) => (await finder.findErasure(db, claimName(claimID))) !== undefined,
    followMerges: (row: ContactRow) => finder.answering(db, row),
    readMerges: async (contact) => pointersOf(await readChains(db, [contact])),
    readGroup: async (unmerged: ContactRow) => (await rowsOf(db, [unmerged]))[0] ?? [],
    readRecords: async (group: readonly ContactRow[]) => (await recordsOf(db, [group]))[0] ?? [],
    lock: (row: ContactRow, changesKeys) => lock(db, row, changesKeys),
    insert: (created) => insertContact(db, created),
    ensure: (created) => ensureContact(db, created),
    save: (row: ContactRow, saved) => save(db, row, saved),
    async reserveKey(row, field, value) {
      if (row[field] === value) return row;
      return (await insertKey(db, field, value, row)) ? undefined : findHolder(db, field, value);
    },
    async clearKey(row, field) {
      await deleteKey(db, field, row);
      await update(`"${field}" = NULL${field === 'contactExternalID' ? ', "externalIDClaim" = NULL' : ''}`, row);
    },
    async verifyKey(row, field) {
      const column = field === 'contactExternalID' ? '"externalIDClaim" = NULL' : 'verified = true';
      const sql = `UPDATE contact SET ${column} WHERE account = $1 AND contact = $2 AND "${field}" = $3`;
      if ((await db.run(sql, [db.account, row.contact, row[field]])) === 0) throw new ConcurrentChange();
    },
    setExternalID: (row, externalID, claim) =>
      update('"contactExternalID" = $3, "externalIDClaim" = $4', row, externalID, claim),
    merge: (row, into, time) => mergeInto(db, row, into, time),
    unmerge: (row) => unmerge(db, row),
  };
};
