/**
 * Undoes imports, a limited number of rows per commit: deletes the imported links, then deletes or restores the
 * contacts that the import has written.
 */
import {
  dropImportStretch,
  dropWritten,
  endUndo,
  findStretch,
  findWritten,
  type ImportedContact,
  omitTakenKeys,
  type Undoing,
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
}

interface UndoParts {
  readonly contacts: ContactWriter;
  readonly detaching: Pick<Detaching, 'detachUser'>;
  /**
   * Whether a contact has an event that was logged with it; undefined if a search of about this cost could not tell.
   */
  findEvent(contact: number, maxCost: number): { readonly hasEvent: boolean | undefined; readonly cost: number };
}

const rowsPerStep = 50;

interface Undone {
  /**
   * `kept` if the import created the contact and the contact stays; `pending` if the step ended before that was
   * decided.
   */
  readonly outcome: 'undone' | 'kept' | 'pending';
  readonly cost: number;
}

export const createImportUndo = (db: Connection, { contacts, detaching, findEvent }: UndoParts) => {
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
    // Removes the contact from the index (through the trigger contact_erased).
    'UPDATE contact SET mergedInto = contact WHERE contact = ?',
    'DELETE FROM contact_tag WHERE contact = ?',
    'DELETE FROM contact_attr WHERE contact = ?',
    'DELETE FROM request_repeat WHERE contact = ?',
    // The values that other imports recorded for the contact.
    'DELETE FROM import_contact WHERE contact = ?',
    'DELETE FROM contact WHERE contact = ?',
  ].map((sql) => db.prepare<[number]>(sql));

  /** Deletes a contact that an import has created, unless something else has changed or uses it. */
  const deleteCreated = (row: ContactRow, { contact, updatedTime }: ImportedContact, maxCost: number): Undone => {
    const isUntouched = row.updatedTime === updatedTime && row.mergedInto === null;
    if (!isUntouched || isUsed.get({ contact }) === 1) return { outcome: 'kept', cost: 1 };
    const { hasEvent, cost } = findEvent(contact, maxCost);
    if (hasEvent === false) for (const drop of drops) drop.run(contact);
    return { outcome: hasEvent === undefined ? 'pending' : hasEvent ? 'kept' : 'undone', cost };
  };

  const undoContact = (account: number, imported: ImportedContact, maxCost: number): Undone => {
    const row: ContactRow | undefined = contacts.get(imported.contact);
    if (row !== undefined && row.account === account) {
      if (imported.isCreated) return deleteCreated(row, imported, maxCost);
      if (row.mergedInto === null) restore(row, imported);
    }
    return { outcome: 'undone', cost: 1 };
  };

  const restore = (row: ContactRow, { changes }: ImportedContact): void => {
    const { update, removesAddress, time } = toRestoration(JSON.parse(changes), valuesOf(row));
    if (removesAddress) clearAddress.run(row.contact);
    const keys = runOperation(omitTakenKeys(row, update.keys));
    contacts.write(row, { ...update, keys, time: time ?? row.updatedTime });
  };

  return {
    /** Returns the next events to delete; undefined if there are none. */
    nextEvents(undoing: Undoing): ImportedEvents | undefined {
      const stretch = runOperation(findStretch(undoing));
      return stretch && { ...stretch, what: 'account', number: undoing.account };
    },

    /**
     * Deletes some links of a stretch whose events are deleted, and the stretch after its last link. Returns the number
     * of deleted links.
     */
    continueStretch(undoing: Undoing, { after, through }: ImportedEvents): number {
      const links = nextLinks.all({ account: undoing.account, after, through });
      for (const { sequence, user } of links) {
        detaching.detachUser(user);
        dropLink.run(sequence);
      }
      if (links.length < rowsPerStep) runOperation(dropImportStretch(undoing, { after, through }));
      return links.length;
    },

    /** Deletes or restores some contacts of an import without stretches, and ends the undo after the last. Returns the cost. */
    continueContacts(undoing: Undoing, maxCost: number): number {
      const written = runOperation(findWritten(undoing, rowsPerStep));
      if (written.length === 0) {
        runOperation(endUndo(undoing));
        return 1;
      }
      let [cost, kept] = [0, 0];
      let last: number | undefined;
      for (const imported of written) {
        if (cost >= maxCost) break;
        const undone = undoContact(undoing.account, imported, maxCost - cost);
        cost += undone.cost;
        if (undone.outcome === 'pending') break;
        if (undone.outcome === 'kept') kept += 1;
        last = imported.contact;
      }
      if (last !== undefined) runOperation(dropWritten(undoing, last, kept));
      return cost;
    },
  };
};
export type ImportUndo = ReturnType<typeof createImportUndo>;
