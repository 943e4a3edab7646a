/**
 * Undoes imports, a limited number of rows per transaction: deletes the imported links, then deletes or restores the
 * contacts that the import has written.
 */
import {
  dropImportStretch,
  dropWritten,
  endUndo,
  findWritten,
  type ImportedContact,
  type ImportStretch,
  omitTakenKeys,
  type Undoing,
} from '../../operations/imports.ts';
import { toRestoration } from '../../rules/import-changes.ts';
import { deleteKey } from '../contacts/contact-keys.ts';
import { type ContactRow, readContacts } from '../contacts/contact-rows.ts';
import type { ContactWriter } from '../contacts/contacts.ts';
import { lockUsers } from '../contacts/row-locks.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { recordedValues } from './imports.ts';

interface UndoParts {
  readonly contacts: Pick<ContactWriter, 'write'>;
  /** Deletes all rows about contacts except their events. */
  deleteContacts(db: Transaction, rows: readonly ContactRow[]): Promise<unknown>;
}

const linksPerStep = 500;
const contactsPerStep = 50;

export const createImportUndo = ({ contacts, deleteContacts }: UndoParts) => {
  const isUsed = async (db: Transaction, contact: number): Promise<boolean> => {
    const { used } = await db.one<{ used: boolean }>(
      `SELECT EXISTS (SELECT FROM contact_user WHERE account = $1 AND contact = $2)
         OR EXISTS (SELECT FROM claim WHERE account = $1 AND contact = $2)
         OR EXISTS (SELECT FROM merged_contact WHERE account = $1 AND contact = $2)
         OR EXISTS (SELECT FROM event WHERE account = $1 AND holder = -$2::bigint) AS used`,
      [db.account, contact],
    );
    return used;
  };

  /** Restores or deletes a contact. Returns false if the contact stays although the import created it. */
  const undoContact = async (
    db: Transaction,
    { contact, isCreated, updatedTime, changes }: ImportedContact,
  ): Promise<boolean> => {
    const [row] = await readContacts(db, [contact]);
    if (row === undefined) return true;
    if (isCreated) {
      const isUntouched = row.updatedTime === updatedTime && row.mergedInto === null;
      if (!isUntouched || (await isUsed(db, contact))) return false;
      await deleteContacts(db, [row]);
      return true;
    }
    if (row.mergedInto !== null) return true;
    const { update, removesAddress, time } = toRestoration(JSON.parse(changes), recordedValues(row));
    if (removesAddress) {
      await deleteKey(db, 'contactEmailaddress', row);
      await db.run('UPDATE contact SET "contactEmailaddress" = NULL WHERE account = $1 AND contact = $2', [
        db.account,
        contact,
      ]);
    }
    const current = removesAddress ? { ...row, contactEmailaddress: null } : row;
    const keys = await runOperation(db, omitTakenKeys(row, update.keys));
    await contacts.write(db, current, { ...update, keys, time: time ?? row.updatedTime });
    return true;
  };

  return {
    /** Deletes some links of a stretch whose events are deleted, and the stretch after its last link. */
    async continueStretch(db: Transaction, undoing: Undoing, { after, through }: ImportStretch): Promise<void> {
      const links = await db.all<{ sequence: number; user: number }>(
        'SELECT sequence, "user" FROM statement_place WHERE account = $1 AND sequence > $2 AND sequence <= $3 LIMIT $4',
        [db.account, after, through, linksPerStep],
      );
      const users = [...new Set(links.map(({ user }) => user))];
      if (users.length > 0) {
        await lockUsers(db, users);
        await db.run(
          `WITH gone AS (
             DELETE FROM statement WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND sequence = ANY ($3::bigint[])
             RETURNING sequence
           )
           DELETE FROM statement_place p USING gone WHERE p.account = $1 AND p.sequence = gone.sequence`,
          [db.account, users, links.map(({ sequence }) => sequence)],
        );
        await db.run(
          `DELETE FROM contact_user c WHERE account = $1 AND "user" = ANY ($2::bigint[])
             AND NOT EXISTS (SELECT FROM statement s WHERE s.account = $1 AND s."user" = c."user" AND s.contact = c.contact)`,
          [db.account, users],
        );
      }
      if (links.length < linksPerStep) await runOperation(db, dropImportStretch(undoing, { after, through }));
    },

    /** Deletes or restores some contacts of an import without stretches, and ends the undo after the last. */
    async continueContacts(db: Transaction, undoing: Undoing): Promise<void> {
      // Runs exclusively, so that nothing else uses or changes the contacts between the check and the deletion.
      db.requireExclusive();
      const written = await runOperation(db, findWritten(undoing, contactsPerStep));
      const last = written.at(-1);
      if (!last) {
        await runOperation(db, endUndo(undoing));
        return;
      }
      let kept = 0;
      for (const each of written) if (!(await undoContact(db, each))) kept += 1;
      await runOperation(db, dropWritten(undoing, last.contact, kept));
    },
  };
};
export type ImportUndo = ReturnType<typeof createImportUndo>;
