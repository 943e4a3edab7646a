/**
 * Brings the index of contacts up to date (rules/contact-search.ts): for some of the contacts that triggers have listed as changed,
 * it computes what searches find and writes what differs. Writes don't wait for it: it runs between commits.
 */
import { termsOfContact } from '../../rules/contact-search.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createLastSeen } from './last-seen.ts';

/** A step takes some milliseconds. */
const contactsPerStep = 64;
/** The share of the time that steps may take while others write: one part in this many. */
const shareBesideWrites = 4;

export const createContactIndex = (db: Connection) => {
  const { groupOf, viewOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const changed = db
    .prepare<[], number>(`SELECT contact FROM contact_changed ORDER BY contact LIMIT ${contactsPerStep}`)
    .pluck();
  const anyChanged = db.prepare<[], 0 | 1>('SELECT EXISTS (SELECT 1 FROM contact_changed)').pluck();
  const dropChanged = db.prepare('DELETE FROM contact_changed WHERE contact = ?');
  const rowOf = db.prepare<[number], ContactRow>('SELECT * FROM contact WHERE contact = ?');
  const foundOf = db.prepare<[number], { account: number; createdTime: number; lastSeen: number; terms: string }>(
    'SELECT account, createdTime, lastSeen, terms FROM contact_found WHERE contact = ?',
  );
  const dropFound = db.prepare('DELETE FROM contact_found WHERE contact = ?');
  const putFound = db.prepare(`
    INSERT INTO contact_found VALUES (@contact, @account, @createdTime, @lastSeen, @terms)
    ON CONFLICT (contact) DO UPDATE SET lastSeen = @lastSeen, terms = @terms`);
  const addTerm = db.prepare('INSERT INTO contact_term VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const dropTerm = db.prepare(
    'DELETE FROM contact_term WHERE account = ? AND term = ? AND createdTime = ? AND contact = ?',
  );

  const remove = (contact: number): void => {
    const found = foundOf.get(contact);
    if (!found) return;
    for (const term of JSON.parse(found.terms)) dropTerm.run(found.account, term, found.createdTime, contact);
    dropFound.run(contact);
  };

  /** Writes what searches find of the contact that answers for this one. */
  const refresh = (row: ContactRow): void => {
    const group = groupOf(row);
    const { account, contact, createdTime, contactStatus } = group[0] as ContactRow;
    const found = foundOf.get(contact);
    const lastSeen = lastSeenOf(group);
    const before = new Set<number>(JSON.parse(found?.terms ?? '[]'));
    const after = new Set(termsOfContact({ contactStatus }, viewOf(group)));
    const terms = JSON.stringify([...after]);
    if (found?.lastSeen !== lastSeen || found.terms !== terms) {
      putFound.run({ contact, account, createdTime, lastSeen, terms });
    }
    for (const term of before) if (!after.has(term)) dropTerm.run(account, term, createdTime, contact);
    for (const term of after) if (!before.has(term)) addTerm.run(account, term, createdTime, contact);
  };

  /** The milliseconds that the last step took, and when the next may run beside writes. */
  let dueAt = 0;
  let isWritten = false;

  return {
    /** Notes that others write. */
    noteWrite(): void {
      isWritten = true;
    },
    /** The milliseconds until the next step should run; null when there is nothing to do. */
    pause: (): number | null => (anyChanged.get() === 1 ? Math.max(0, Math.ceil(dueAt - performance.now())) : null),
    /** Brings some contacts up to date; returns how many. */
    step(): number {
      const began = performance.now();
      const contacts = changed.all();
      for (const contact of contacts) {
        const row = rowOf.get(contact);
        if (row === undefined || row.mergedInto !== null) remove(contact);
        // An erased contact is merged into itself.
        if (row !== undefined && row.mergedInto !== contact) refresh(row);
        dropChanged.run(contact);
      }
      const now = performance.now();
      dueAt = isWritten ? now + (now - began) * (shareBesideWrites - 1) : now;
      isWritten = false;
      return contacts.length;
    },
  };
};
export type ContactIndex = ReturnType<typeof createContactIndex>;
