/** Undoes imports, some rows per commit: deletes their links, then deletes or restores the contacts that they have written. */
import { Refusal } from '../../../shared/refusal.ts';
import {
  dropImportStretch,
  dropWritten,
  endUndo,
  findStretch,
  findUndoing,
  findWritten,
  type ImportedContact,
} from '../../operations/imports.ts';
import { toRestoration } from '../../rules/import-changes.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import type { ContactWriter } from '../contacts/contacts.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import type { Source } from '../event-log/event-log.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createRecordedValues } from './imports.ts';

/** A part of an import's events to delete. */
export interface ImportedEvents extends Omit<Source, 'eventID'> {
  readonly what: 'account';
  readonly erasure: number;
}

interface UndoParts {
  readonly contacts: ContactWriter;
  readonly detaching: Pick<Detaching, 'detachUser'>;
  /** Whether a contact has an event that was logged with it. */
  hasEvents(contact: number): boolean;
}

const rowsPerStep = 50;

export const createImportUndo = (db: Connection, { contacts, detaching, hasEvents }: UndoParts) => {
  const runOperation = createOperationRunner(db);
  const valuesOf = createRecordedValues(db);
  const nextLinks = db.prepare<
    { account: number; after: number; through: number },
    { sequence: number; user: number }
  >(`
    SELECT s.sequence, s.user FROM statement s JOIN user u ON u.user = s.user
    WHERE s.sequence > @after AND s.sequence <= @through AND u.account = @account LIMIT ${rowsPerStep}`);
  const dropLink = db.prepare('DELETE FROM statement WHERE sequence = ?');
  const isUsed = db
    .prepare<{ contact: number }, 0 | 1>(`
      SELECT EXISTS (SELECT 1 FROM statement WHERE contact = @contact) OR EXISTS (SELECT 1 FROM claim WHERE contact = @contact)
        OR EXISTS (SELECT 1 FROM contact WHERE mergedInto = @contact)`)
    .pluck();
  const clearAddress = db.prepare('UPDATE contact SET contactEmailaddress = NULL WHERE contact = ?');
  const drops = [
    // Removes it from the index (the trigger contact_erased).
    'UPDATE contact SET mergedInto = contact WHERE contact = ?',
    'DELETE FROM contact_tag WHERE contact = ?',
    'DELETE FROM contact_attr WHERE contact = ?',
    'DELETE FROM request_repeat WHERE contact = ?',
    // Its values that other imports stored.
    'DELETE FROM import_contact WHERE contact = ?',
    'DELETE FROM contact WHERE contact = ?',
  ].map((sql) => db.prepare<[number]>(sql));

  /** Restores a contact. Returns false if the import has created it, and it stays. */
  const undoContact = (account: number, { contact, isCreated, updatedTime, changes }: ImportedContact): boolean => {
    const row: ContactRow | undefined = contacts.get(contact);
    if (row === undefined || row.account !== account) return true;
    const isUntouched = row.updatedTime === updatedTime && row.mergedInto === null;
    if (isCreated) {
      if (!isUntouched || isUsed.get({ contact }) === 1 || hasEvents(contact)) return false;
      for (const drop of drops) drop.run(contact);
      return true;
    }
    if (row.mergedInto !== null) return true;
    const { update, removesAddress, time } = toRestoration(JSON.parse(changes), valuesOf(row));
    if (removesAddress) clearAddress.run(contact);
    try {
      contacts.write(row, { ...update, time: time ?? row.updatedTime });
    } catch (error) {
      // Another contact has the former key now.
      if (!(error instanceof Refusal)) throw error;
    }
    return true;
  };

  return {
    /** Returns the next events to delete; undefined if there are none. */
    nextEvents(): ImportedEvents | undefined {
      const undoing = runOperation(findUndoing());
      const stretch = undoing && runOperation(findStretch(undoing));
      return stretch && { ...stretch, what: 'account', number: undoing.account, erasure: undoing.erasure };
    },

    /** Deletes some links of a stretch whose events are deleted, and the stretch after its last link. Returns how many. */
    continueStretch({ number: account, after, through }: ImportedEvents): number {
      const links = nextLinks.all({ account, after, through });
      for (const { sequence, user } of links) {
        detaching.detachUser(user);
        dropLink.run(sequence);
      }
      const undoing = runOperation(findUndoing());
      if (links.length < rowsPerStep && undoing) runOperation(dropImportStretch(undoing, { after, through }));
      return links.length;
    },

    /** Deletes or restores some contacts of an import without stretches. Returns their number; 0: nothing is left to do. */
    continueContacts(): number {
      const undoing = runOperation(findUndoing());
      if (!undoing) return 0;
      const written = runOperation(findWritten(undoing, rowsPerStep));
      const last = written.at(-1);
      if (!last) {
        runOperation(endUndo(undoing));
        return 1;
      }
      const kept = written.filter((each) => !undoContact(undoing.account, each)).length;
      runOperation(dropWritten(undoing, last.contact, kept));
      return written.length;
    },
  };
};
export type ImportUndo = ReturnType<typeof createImportUndo>;
