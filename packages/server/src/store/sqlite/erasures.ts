/** Erasing a contact: out of every read at once, its events deleted step by step afterwards. */
import { contactFields } from '../../identity/contact-view.ts';
import type { PersonNames } from '../refused-names.ts';
import type { NewErasure } from '../store.ts';
import type { ErasureProgress } from './acknowledging.ts';
import type { Connection } from './connection.ts';
import type { ContactRow } from './contact-finder.ts';
import type { ContactWriter } from './contacts.ts';
import type { Detaching, EraseName } from './detaching.ts';
import type { Erased } from './erasure-record.ts';
import { eventAt, type KeptEvent } from './event-block.ts';
import type { BlockWriter, StoredBlock } from './event-blocks.ts';
import { createEventFinder, type Source } from './event-finder.ts';
import type { Indexing } from './indexing.ts';
import { createMergeReader } from './merges.ts';
import { createOldEvents, type PlacedEvent } from './old-events.ts';
import type { Position } from './position.ts';
import type { RefusedWriter } from './refused-requests.ts';
import type { Repeats } from './repeats.ts';
import { statementColumns } from './statements.ts';
import type { Totals } from './totals.ts';
import { visitorOf } from './visitors.ts';

const groupBy = <Entry>(entries: readonly Entry[], keyOf: (entry: Entry) => number): Map<number, Entry[]> => {
  const groups = new Map<number, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(keyOf(entry));
    if (group) group.push(entry);
    else groups.set(keyOf(entry), [entry]);
  }
  return groups;
};

/** What a step of deleting may cost, in events; beside them, blocks that are written anew, looks in vain, and what is done with. */
const costPerStep = 150;
const costOfBlock = 10;
const costOfRest = 100;
const costOfEnd = 3;

export interface ErasureParts {
  readonly position: Position;
  readonly contacts: ContactWriter;
  readonly detaching: Detaching;
  readonly repeats: Repeats;
  readonly totals: Totals;
  readonly refused: RefusedWriter;
  readonly blocks: BlockWriter;
  readonly indexing: Indexing;
}

export const createErasures = (db: Connection, parts: ErasureParts) => {
  const { position, contacts, detaching, repeats, totals, refused, blocks, indexing } = parts;
  const merges = createMergeReader(db);
  const insert = db.prepare('INSERT INTO erasure VALUES (NULL, ?, ?, 0, 0, ?)');
  const get = db.prepare<[number], { erasedTime: number; deletedEvents: number; complete: number }>(
    'SELECT erasedTime, deletedEvents, complete FROM erasure WHERE erasure = ?',
  );
  const insertContact = db.prepare('INSERT INTO erased_contact VALUES (?, ?)');
  const insertHash = db.prepare('INSERT OR IGNORE INTO erased_identifier VALUES (?, ?)');
  const hasAccount = db.prepare<[number], number>('SELECT 1 FROM account WHERE account = ?').pluck();
  const contactsOf = db.prepare<[number], { contact: number; contactUUID: string }>(
    'SELECT contact, contactUUID FROM contact WHERE account = ?',
  );
  const allErased = db.prepare<[], Erased>(
    'SELECT x.account, x.erasedTime, x.verifiedOnly, e.hash FROM erased_identifier e JOIN erasure x ON x.erasure = e.erasure',
  );
  const emptied = contactFields.filter((name) => name !== 'contactEmailaddress').map((name) => `${name} = NULL`);
  const forgetContact = [
    // In a backup, others may still be merged with it.
    'UPDATE contact SET mergedInto = NULL, mergedTime = NULL WHERE mergedInto = ?',
    'DELETE FROM contact_tag WHERE contact = ?',
    'DELETE FROM contact_attr WHERE contact = ?',
    // What is left of the row until nothing names it: merged into itself, it is in no list and no count.
    `UPDATE contact SET ${emptied}, contactUUID = 'erased ' || contact, contactEmailaddress = 'erased ' || contact,
       mergedInto = contact, mergedTime = NULL WHERE contact = ?`,
  ].map((sql) => db.prepare(sql));
  const claimedAddresses = db
    .prepare<[number], string>(
      "SELECT DISTINCT said ->> '$.fields.contactEmailaddress' FROM claim WHERE contact = ? AND said ->> '$.fields.contactEmailaddress' IS NOT NULL",
    )
    .pluck();
  const handlesAndUsers = db
    .prepare<{ contact: number }, string>(`
      SELECT claimID FROM claim WHERE contact = @contact
      UNION SELECT u.userUUID FROM claim c JOIN user u ON u.user = c.user WHERE c.contact = @contact
      UNION SELECT u.userUUID FROM statement s JOIN user u ON u.user = s.user WHERE s.contact = @contact`)
    .pluck();
  const handlesAndVerifiedUsers = db
    .prepare<{ contact: number }, string>(`
      SELECT claimID FROM claim WHERE contact = @contact
      UNION SELECT u.userUUID FROM (SELECT ${statementColumns} WHERE s.contact = @contact) s JOIN user u ON u.user = s.user
      WHERE s.verified`)
    .pluck();

  const open = db.prepare<[], number>('SELECT erasure FROM erasure WHERE NOT complete LIMIT 1').pluck();
  const nextStretch = db.prepare<[], { erasure: number; user: number; after: number; through: number }>(
    'SELECT erasure, user, after, through FROM erased_stretch LIMIT 1',
  );
  const nextContact = db.prepare<[], { erasure: number; contact: number }>(
    'SELECT erasure, contact FROM erased_contact LIMIT 1',
  );
  const finder = createEventFinder(db);
  const oldEvents = createOldEvents(db);
  const dropStretch = db.prepare('DELETE FROM erased_stretch WHERE erasure = ? AND user = ? AND after = ?');
  const dropContact = db.prepare('DELETE FROM erased_contact WHERE erasure = ? AND contact = ?');
  const addDeleted = db.prepare('UPDATE erasure SET deletedEvents = deletedEvents + ? WHERE erasure = ?');
  const complete = db.prepare('UPDATE erasure SET complete = 1 WHERE NOT complete');

  /** What this transaction has erased. */
  let fresh: Erased[] = [];

  const receipt = (erasure: number, contactUUID: string): ErasureProgress => {
    const found = get.get(erasure) as NonNullable<ReturnType<typeof get.get>>;
    return { contactUUID, ...found, complete: found.complete === 1, hasNames: detaching.hasNames(erasure) };
  };

  /** By whatever a request could name one of these contacts, their users included. */
  const namesOf = (rows: readonly ContactRow[], verifiedOnly: 0 | 1): PersonNames => ({
    addresses: new Set(rows.flatMap((row) => [row.contactEmailaddress, ...claimedAddresses.all(row.contact)])),
    contactUUIDs: new Set(rows.map(({ contactUUID }) => contactUUID)),
    others: new Set(
      rows.flatMap(({ contact }) => (verifiedOnly ? handlesAndVerifiedUsers : handlesAndUsers).all({ contact })),
    ),
  });

  const eraseHash = (hash: Buffer, erased: Omit<Erased, 'hash'>, erasure: number) => {
    if (insertHash.run(hash, erasure).changes > 0) fresh.push({ ...erased, hash });
  };
  const eraseName: EraseName = (identifier, erased, erasure) =>
    eraseHash(contacts.hashOf(erased.account, identifier), erased, erasure);

  /** Erases contacts that are one person: out of all reads, and with as little to write as that takes. */
  const eraseGroup = (group: readonly number[], erased: Omit<Erased, 'hash'>): number => {
    const { account, erasedTime, verifiedOnly } = erased;
    const erasure = Number(insert.run(account, erasedTime, verifiedOnly).lastInsertRowid);
    const rows = group.map((contact) => contacts.get(contact) as ContactRow);
    refused.erase(account, () => namesOf(rows, verifiedOnly));
    for (const { contact, contactUUID } of rows) {
      insertContact.run(erasure, contact);
      detaching.begin(contact, erasure, position.sequence);
      eraseName(contactUUID, erased, erasure);
      for (const statement of forgetContact) statement.run(contact);
    }
    detaching.takeFirstNames(erasure, eraseName);
    return erasure;
  };

  /** Of the stretch or the contact that is being deleted: up to where that is done. */
  let progress = { of: '', after: 0 };

  /** Some of what is sought, after what was deleted of it already, what that costs, and whether it is all that is left. */
  const placesOf = (
    source: Omit<Source, 'eventID'>,
    mostCost: number,
  ): { places: PlacedEvent[]; cost: number; areLast: boolean } => {
    const places: PlacedEvent[] = [];
    const of = `${source.what} ${source.number} ${source.after}`;
    if (progress.of !== of) progress = { of, after: source.after };
    const range = { after: progress.after, through: source.through };
    let cost = 0;
    for (const found of finder.find([{ ...source, eventID: 0 }], [range], 'asc')) {
      if (typeof found === 'number') {
        progress.after = found;
        cost += costOfRest;
      } else {
        for (const index of found.indexes) places.push({ stored: found, index });
        progress.after = found.reached;
        cost += costOfBlock + found.indexes.length;
      }
      if (cost >= mostCost) return { places, cost, areLast: false };
    }
    return { places, cost: cost + costOfEnd, areLast: true };
  };

  const deleteEvents = (places: readonly PlacedEvent[]) => {
    const byBlock = new Map<StoredBlock, Set<number>>();
    const events = places.map(({ stored, index }) => eventAt(stored.block, index));
    places.forEach(({ stored, index }, nth) => {
      const event = events[nth] as KeptEvent;
      repeats.erase({ ...event, holder: visitorOf(event) });
      totals.remove(event);
      byBlock.set(stored, (byBlock.get(stored) ?? new Set()).add(index));
    });
    for (const [stored, indexes] of byBlock) blocks.remove(stored, indexes);
    indexing.remove(events);
  };

  return {
    /** Erases the contact that answers, with all that it answers for. Asked again, only answers how far that is. */
    eraseContact({ time, verifiedOnly, ...name }: NewErasure): ErasureProgress {
      const { account, contactUUID } = name;
      const erased = contactUUID === undefined ? undefined : contacts.findErasure(account, contactUUID);
      if (erased !== undefined) return receipt(erased, contactUUID as string);
      const named = contacts.byName(name);
      const erasure = eraseGroup(merges.group(named.contact), {
        account,
        erasedTime: time,
        verifiedOnly: verifiedOnly ? 1 : 0,
      });
      return receipt(erasure, named.contactUUID);
    },

    /** Erases again what was erased once, and stands here still, or anew: the database is a backup from before that. */
    eraseAgain(erased: readonly Erased[]): void {
      for (const [account, ofAccount] of groupBy(erased, ({ account }) => account)) {
        if (hasAccount.get(account) === undefined) continue;
        const found = new Map(
          contactsOf
            .all(account)
            .map(({ contact, contactUUID }) => [contacts.hashOf(account, contactUUID).toString('hex'), contact]),
        );
        for (const names of groupBy(ofAccount, (each) => 2 * each.erasedTime + each.verifiedOnly).values()) {
          const group = names.flatMap(({ hash }) => found.get(hash.toString('hex')) ?? []);
          const { hash: _, ...erased } = names[0] as Erased;
          const erasure = eraseGroup(group, erased);
          for (const { hash } of names) eraseHash(hash, erased, erasure);
        }
      }
    },

    listErased: (): Erased[] => allErased.all(),

    /** What was erased since it was asked last, and is to be recorded. */
    takeFresh(): Erased[] {
      const taken = fresh;
      fresh = [];
      return taken;
    },

    forget() {
      fresh = [];
      progress = { of: '', after: 0 };
      finder.forget();
    },

    /** Whether one is not complete. */
    isErasing: (): boolean => open.get() !== undefined,

    /** Takes away some of what still names an erased contact; answers whether there was any. */
    detachSome: (): boolean => detaching.step(eraseName),

    /** Deletes some events of what was erased; answers whether there is more to do. */
    continueErasures(): boolean {
      let cost = 0;
      while (cost < costPerStep) {
        const stretch = nextStretch.get();
        const contact = stretch ? undefined : nextContact.get();
        const found = stretch ?? contact;
        if (found === undefined) {
          finder.forget();
          break;
        }
        const source: Omit<Source, 'eventID'> = stretch
          ? { what: 'user', number: stretch.user, withoutContact: true, after: stretch.after, through: stretch.through }
          : { what: 'contact', number: (contact as { contact: number }).contact, after: 0, through: Infinity };
        const some = placesOf(source, costPerStep - cost);
        cost += some.cost;
        deleteEvents(some.places);
        addDeleted.run(some.places.length, found.erasure);
        if (!some.areLast) continue;
        if (stretch) dropStretch.run(stretch.erasure, stretch.user, stretch.after);
        else dropContact.run(found.erasure, (contact as { contact: number }).contact);
      }
      return cost > 0;
    },

    /** All of them are: no event is left to delete, and no file holds any of it. */
    completeErasures() {
      complete.run();
    },

    deleteEventsBefore({ time, most, now = Infinity }: { time: number; most: number; now?: number }): number {
      blocks.flush();
      const places = oldEvents({ time, most, now });
      deleteEvents(places);
      // What was refused is no longer kept than what was not.
      refused.evictBefore(time, most);
      return places.length;
    },
  };
};
