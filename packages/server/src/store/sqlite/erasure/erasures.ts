/** Erases contacts: one commit removes a contact from every read; later steps delete its events. */
import { type KeyField, plainFields } from '../../../identity/contact-view.ts';
import type { ContactStore, LinkStore } from '../../operations/contact-store.ts';
import { recordErasedContacts } from '../../operations/facts.ts';
import { forgetKeys } from '../../operations/imports.ts';
import {
  beginUndo,
  continueContacts,
  continueStretch,
  findImportToUndo,
  findStretch,
  findUndoing,
} from '../../operations/undo-import.ts';
import { recordSkippedEvents } from '../../operations/webhooks.ts';
import type { Import, NewErasure, RequestOf } from '../../store.ts';
import type { RefusedWriter } from '../accounts/refused-requests.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import { createMergeReader } from '../contacts/contact-rows.ts';
import type { Connection } from '../database/connection.ts';
import { type EventLogWriter, factsAt, type Source } from '../event-log/event-log.ts';
import type { Dedup } from '../events/dedup.ts';
import type { Rollups } from '../events/rollups.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { Detaching, EraseName } from './detaching.ts';
import type { ErasureProgress } from './erase-contact.ts';
import { type ErasedIdentifier, type Erasure, listErased } from './erasure-record.ts';
import { createEventDeletion } from './event-deletion.ts';

const groupBy = <Entry>(entries: readonly Entry[], keyOf: (entry: Entry) => number): Map<number, Entry[]> => {
  const groups = new Map<number, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(keyOf(entry));
    if (group) group.push(entry);
    else groups.set(keyOf(entry), [entry]);
  }
  return groups;
};

/** The maximum cost of a deletion step, in events. */
const costPerStep = 150;

/** The maximum number of links that an undo step deletes. */
const linksPerStep = 50;

interface ErasureParts {
  readonly sequencer: Sequencer;
  readonly contacts: ContactFinder;
  readonly contactStore: ContactStore;
  readonly links: { readonly store: LinkStore };
  readonly detaching: Detaching;
  readonly dedup: Dedup;
  readonly rollups: Rollups;
  readonly refused: RefusedWriter;
  readonly log: EventLogWriter;
}

interface ContactErasingParts extends Pick<ErasureParts, 'sequencer' | 'contacts' | 'detaching'> {
  /** Creates an erasure. Returns its row number. */
  insert(values: Omit<Erasure, 'erasure'>): number;
}

/** Removes contacts from all reads, and collects their identifiers until they are recorded. */
const createContactErasing = (db: Connection, { sequencer, contacts, detaching, insert }: ContactErasingParts) => {
  const merges = createMergeReader(db);
  const runOperation = createOperationRunner(db);
  const get = db.prepare<[number], { erasedTime: number; deletedEvents: number; complete: number }>(
    'SELECT erasedTime, deletedEvents, complete FROM erasure WHERE erasure = ?',
  );
  const insertHash = db.prepare('INSERT OR IGNORE INTO erased_identifier VALUES (?, ?)');
  const hasAccount = db.prepare<[number], number>('SELECT 1 FROM account WHERE account = ?').pluck();
  const contactsOf = db.prepare<[number], { contact: number; contactUUID: string }>(
    'SELECT contact, contactUUID FROM contact WHERE account = ?',
  );
  const emptied = [...plainFields, 'contactExternalID', 'externalIDClaim'].map((name) => `${name} = NULL`);
  const keysOf = db.prepare<[string], { contact: number; contactUUID: string } & Record<KeyField, string | null>>(
    `SELECT contact, contactUUID, contactExternalID, contactEmailaddress FROM contact
     WHERE contact IN (SELECT value FROM json_each(?))`,
  );
  // Uses one statement for all contacts: for a person with 1,000 merged contacts, twice as fast as one statement per
  // contact.
  const ofErasure = '(SELECT contact FROM erasing_contact WHERE hasNames AND erasure = ?)';
  const removeFromReads = [
    `INSERT INTO erased_contact SELECT erasure, contact FROM erasing_contact WHERE hasNames AND erasure = ?`,
    // Keeps the row until nothing references it. Because it is merged into itself, no list or count includes it.
    `UPDATE contact SET ${emptied}, contactUUID = 'erased ' || contact, contactEmailaddress = 'erased ' || contact,
       mergedInto = contact, mergedTime = NULL WHERE contact IN ${ofErasure}`,
    // Unmerges other contacts, which may still be merged into it in a restored backup.
    `UPDATE contact SET mergedInto = NULL, mergedTime = NULL WHERE mergedInto IN ${ofErasure} AND mergedInto <> contact`,
  ].map((sql) => db.prepare(sql));

  /** The identifiers erased since the last call to `takeUnrecorded`. */
  let unrecorded: ErasedIdentifier[] = [];

  const receipt = (erasure: number, contactUUID: string): ErasureProgress => {
    const row = get.get(erasure) as NonNullable<ReturnType<typeof get.get>>;
    return { contactUUID, ...row, complete: row.complete === 1, hasNames: detaching.hasNames(erasure) };
  };

  const eraseHash = (hash: Buffer, { erasure, account, erasedTime, verifiedOnly }: Erasure) => {
    if (insertHash.run(hash, erasure).changes > 0) unrecorded.push({ account, erasedTime, verifiedOnly, hash });
  };
  const eraseName: EraseName = (name, erasure) => eraseHash(contacts.hashOf(erasure.account, name), erasure);

  /** Erases one person's contacts: removes them from all reads, with few writes. */
  const eraseGroup = (group: readonly number[], values: Omit<Erasure, 'erasure'>): Erasure => {
    const { account, erasedTime, verifiedOnly } = values;
    const erasure = { account, erasedTime, verifiedOnly, erasure: insert(values) };
    const rows = keysOf.all(JSON.stringify(group));
    detaching.begin(erasure, group, sequencer.sequence);
    for (const { contactUUID } of rows) eraseName(contactUUID, erasure);
    runOperation(forgetKeys(account, rows));
    runOperation(recordErasedContacts({ drawSequence: sequencer.nextSequence }, account, rows, erasedTime));
    for (const statement of removeFromReads) statement.run(erasure.erasure);
    detaching.removeFirstNames(erasure.erasure, eraseName);
    return erasure;
  };

  return {
    eraseName,

    /**
     * Erases the identified contact's final merge target, with all contacts merged into it. A repeated call only
     * returns the progress.
     */
    eraseContact({ time, verifiedOnly, ...name }: NewErasure): ErasureProgress {
      const { account, contactUUID } = name;
      const erased = contactUUID === undefined ? undefined : contacts.findErasure(account, contactUUID);
      if (erased !== undefined) return receipt(erased, contactUUID as string);
      const row = contacts.byName(name);
      const values = { account, erasedTime: time, verifiedOnly: verifiedOnly ? 1 : 0 } as const;
      const { erasure } = eraseGroup(merges.group(row.contact), values);
      return receipt(erasure, row.contactUUID);
    },

    /** Repeats erasures that are missing in this database because it is an older backup. */
    eraseAgain(erased: readonly ErasedIdentifier[]): void {
      for (const [account, ofAccount] of groupBy(erased, ({ account }) => account)) {
        if (hasAccount.get(account) === undefined) continue;
        const byHash = new Map(
          contactsOf
            .all(account)
            .map(({ contact, contactUUID }) => [contacts.hashOf(account, contactUUID).toString('hex'), contact]),
        );
        for (const names of groupBy(ofAccount, (each) => 2 * each.erasedTime + each.verifiedOnly).values()) {
          const group = names.flatMap(({ hash }) => byHash.get(hash.toString('hex')) ?? []);
          const erasure = eraseGroup(group, names[0] as ErasedIdentifier);
          for (const { hash } of names) eraseHash(hash, erasure);
        }
      }
    },

    /** Returns the identifiers erased since the last call, which must be recorded. */
    takeUnrecorded(): ErasedIdentifier[] {
      const taken = unrecorded;
      unrecorded = [];
      return taken;
    },

    forget(): void {
      unrecorded = [];
    },
  };
};

/** Returns a function that deletes a contact that nothing uses. */
const createContactDeletion = (db: Connection) => {
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
  return ({ contact }: { readonly contact: number }) => drops.forEach((drop) => void drop.run(contact));
};

export const createErasures = (db: Connection, parts: ErasureParts) => {
  const { contactStore, links, detaching, refused, log } = parts;
  const insertErasure = db.prepare('INSERT INTO erasure VALUES (NULL, ?, ?, 0, 0, ?)');
  const insert = ({ account, erasedTime, verifiedOnly }: Omit<Erasure, 'erasure'>): number =>
    Number(insertErasure.run(account, erasedTime, verifiedOnly).lastInsertRowid);
  const { eraseName, forget: forgetErased, ...contactErasing } = createContactErasing(db, { ...parts, insert });
  const {
    findOld,
    findEvent,
    findNext,
    deleteEvents,
    endSearch,
    forget: forgetSearch,
  } = createEventDeletion(db, parts);
  const open = db.prepare<[], number>('SELECT erasure FROM erasure WHERE NOT complete LIMIT 1').pluck();
  const next = db.prepare<[], Omit<Source, 'eventID'> & { what: 'user' | 'contact'; erasure: number }>(`
    SELECT erasure, 'user' AS what, user AS number, after, through FROM erased_stretch
    UNION ALL SELECT erasure, 'contact', contact, 0, ${Number.MAX_SAFE_INTEGER} FROM erased_contact LIMIT 1`);
  const runOperation = createOperationRunner(db);
  const deleteContact = createContactDeletion(db);
  const undoParts = { contacts: contactStore, findEvent, deleteContact };
  const dropStretch = db.prepare('DELETE FROM erased_stretch WHERE erasure = ? AND user = ? AND after = ?');
  const dropContact = db.prepare('DELETE FROM erased_contact WHERE erasure = ? AND contact = ?');
  const addDeleted = db.prepare('UPDATE erasure SET deletedEvents = deletedEvents + ? WHERE erasure = ?');
  const complete = db.prepare('UPDATE erasure SET complete = 1 WHERE NOT complete');

  /** Deletes some of an undone import's events, links and contacts. Returns the cost; 0 if nothing is left to do. */
  const continueUndo = (maxCost: number): number => {
    const undoing = runOperation(findUndoing());
    if (undoing === undefined) return 0;
    const stretch = runOperation(findStretch(undoing));
    if (stretch === undefined) return runOperation(continueContacts(undoParts, undoing, maxCost));
    const { places, cost, areLast } = findNext({ ...stretch, what: 'account', number: undoing.account }, maxCost);
    // Drops the keys, so that the file can be imported again.
    deleteEvents(places, 'drop');
    addDeleted.run(places.length, undoing.erasure);
    return areLast ? cost + runOperation(continueStretch(links.store, undoing, stretch, linksPerStep)) : cost;
  };

  return {
    ...contactErasing,

    /** Starts to undo an import. A repeated call only returns the progress. */
    undoImport(request: RequestOf<'undoImport'>): Import {
      const existing = runOperation(findImportToUndo(request));
      if (existing.undoneTime !== null) return existing;
      const erasure = insert({ account: request.account, erasedTime: request.time, verifiedOnly: 0 });
      return runOperation(beginUndo(request, erasure));
    },

    listErased: (): ErasedIdentifier[] => listErased(db),

    forget() {
      forgetErased();
      forgetSearch();
    },

    /** Whether an erasure is incomplete. */
    isErasing: (): boolean => open.get() !== undefined,

    /** Removes some rows that still identify erased contacts. Returns whether there were any. */
    detachSome: (): boolean => detaching.step(eraseName),

    /** Deletes some events of erased contacts. Returns whether there is more to do. */
    continueErasures(): boolean {
      let cost = 0;
      while (cost < costPerStep) {
        const source = next.get();
        if (source === undefined) {
          const undone = continueUndo(costPerStep - cost);
          cost += undone;
          if (undone > 0) continue;
          endSearch();
          break;
        }
        const { erasure, what, number, after } = source;
        const some = findNext({ ...source, withoutContact: what === 'user' }, costPerStep - cost);
        cost += some.cost;
        deleteEvents(some.places);
        addDeleted.run(some.places.length, erasure);
        if (!some.areLast) continue;
        if (what === 'user') dropStretch.run(erasure, number, after);
        else dropContact.run(erasure, number);
      }
      return cost > 0;
    },

    /**
     * Marks all erasures complete. Call it only when no events are left to delete, and no traces of them are left in
     * the files.
     */
    completeErasures() {
      complete.run();
    },

    endSearch,

    /** Deletes some of an account's events and their keys. Returns their count, and whether they were the last. */
    deleteEventsOf(account: number, limit: number): { deleted: number; areLast: boolean } {
      log.flush();
      const all = { what: 'account', number: account, after: 0, through: Number.MAX_SAFE_INTEGER } as const;
      const { places, areLast } = findNext(all, limit);
      deleteEvents(places, 'drop');
      return { deleted: places.length, areLast };
    },

    deleteEventsBefore({ time, limit, now = Infinity }: { time: number; limit: number; now?: number }): number {
      log.flush();
      const places = findOld({ time, limit, now });
      const events = places.map(({ stored, index }) => factsAt(stored.block, index));
      for (const [account, group] of groupBy(events, (event) => event.account)) {
        const sequences = group.map(({ sequence }) => sequence).sort((a, b) => a - b);
        runOperation(recordSkippedEvents(account, sequences));
      }
      deleteEvents(places);
      // Applies the retention period to refused requests too.
      return Math.max(places.length, refused.evictBefore(time, limit));
    },
  };
};
