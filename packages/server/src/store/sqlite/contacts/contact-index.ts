/**
 * Updates the contact index (rules/contact-search.ts) with the contacts that triggers have listed as changed. Runs
 * between commits, so that writes don't wait for it.
 */
import { termsOfContact } from '../../rules/contact-search.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createLastSeen } from './last-seen.ts';

/** The number of contacts in a step, which takes a few milliseconds. */
const contactsPerStep = 64;
/** The maximum fraction (1/n) of the time that steps may take during writes. */
const writeShare = 4;

export const createContactIndex = (db: Connection) => {
  const { groupOf, viewOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const changed = db
    .prepare<[], number>(`SELECT contact FROM contact_changed ORDER BY contact LIMIT ${contactsPerStep}`)
    .pluck();
  const anyChanged = db.prepare<[], 0 | 1>('SELECT EXISTS (SELECT 1 FROM contact_changed)').pluck();
  const dropChanged = db.prepare('DELETE FROM contact_changed WHERE contact = ?');
  const rowOf = db.prepare<[number], ContactRow>('SELECT * FROM contact WHERE contact = ?');
  const entryOf = db.prepare<[number], { account: number; createdTime: number; lastSeen: number; terms: string }>(
    'SELECT account, createdTime, lastSeen, terms FROM contact_found WHERE contact = ?',
  );
  const dropEntry = db.prepare('DELETE FROM contact_found WHERE contact = ?');
  const putEntry = db.prepare(`
    INSERT INTO contact_found VALUES (@contact, @account, @createdTime, @lastSeen, @terms)
    ON CONFLICT (contact) DO UPDATE SET lastSeen = @lastSeen, terms = @terms`);
  const addTerm = db.prepare('INSERT INTO contact_term VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const dropTerm = db.prepare(
    'DELETE FROM contact_term WHERE account = ? AND term = ? AND createdTime = ? AND contact = ?',
  );

  const remove = (contact: number): void => {
    const entry = entryOf.get(contact);
    if (!entry) return;
    for (const term of JSON.parse(entry.terms)) dropTerm.run(entry.account, term, entry.createdTime, contact);
    dropEntry.run(contact);
  };

  /** Updates the index entry of the contact at the end of this contact's merges. */
  const refresh = (row: ContactRow): void => {
    const group = groupOf(row);
    const { account, contact, createdTime, contactStatus } = group[0] as ContactRow;
    const entry = entryOf.get(contact);
    const lastSeen = lastSeenOf(group);
    const before = new Set<number>(JSON.parse(entry?.terms ?? '[]'));
    const after = new Set(termsOfContact({ contactStatus }, viewOf(group)));
    const terms = JSON.stringify([...after]);
    if (entry?.lastSeen !== lastSeen || entry.terms !== terms) {
      putEntry.run({ contact, account, createdTime, lastSeen, terms });
    }
    for (const term of before) if (!after.has(term)) dropTerm.run(account, term, createdTime, contact);
    for (const term of after) if (!before.has(term)) addTerm.run(account, term, createdTime, contact);
  };

  /** The earliest time at which the next step may run during writes. */
  let dueAt = 0;
  let hasWrites = false;

  return {
    /** Call it at each write. */
    noteWrite(): void {
      hasWrites = true;
    },
    /** Returns the milliseconds until the next step should run; null if there is nothing to do. */
    pause: (): number | null => (anyChanged.get() === 1 ? Math.max(0, Math.ceil(dueAt - performance.now())) : null),
    /** Updates some contacts. Returns their number. */
    step(): number {
      const began = performance.now();
      const contacts = changed.all();
      for (const contact of contacts) {
        const row = rowOf.get(contact);
        if (row === undefined || row.mergedInto !== null) remove(contact);
        // Skips erased contacts, which are merged into themselves.
        if (row !== undefined && row.mergedInto !== contact) refresh(row);
        dropChanged.run(contact);
      }
      const now = performance.now();
      dueAt = hasWrites ? now + (now - began) * (writeShare - 1) : now;
      hasWrites = false;
      return contacts.length;
    },
  };
};
export type ContactIndex = ReturnType<typeof createContactIndex>;
