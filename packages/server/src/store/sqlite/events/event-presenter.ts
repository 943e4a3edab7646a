/** Turns a stored event into an event of a page: adds its owner and why the owner has it. */
import { followMerges } from '../../../identity/merges.ts';
import { why } from '../../../identity/ownership.ts';
import type { CatalogueMerges } from '../../rules/accounts/entry-merges.ts';
import { toStoredEvent } from '../../rules/event-presenter.ts';
import type { StoredEvent } from '../../store.ts';
import { createCatalogueReader } from '../accounts/catalogues.ts';
import { createMergeReader } from '../contacts/contact-rows.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';
import { createErasingReader } from '../erasure/erased-stretches.ts';
import type { KeptEvent } from '../event-log/event-log.ts';

/** Caches the result for each key. */
const remembering = <Key, Value>(ask: (key: Key) => Value) => {
  const known = new Map<Key, Value>();
  return (key: Key): Value => {
    if (known.has(key)) return known.get(key) as Value;
    const value = ask(key);
    known.set(key, value);
    return value;
  };
};

const refuse = (whose: string): never => {
  throw new Error(`the row of ${whose} is damaged: it is not what its index says; restore a backup`);
};

export const createEventPresenter = (db: Connection) => {
  const statements = createStatementReader(db);
  const merges = createMergeReader(db);
  const catalogues = createCatalogueReader(db);
  // A row that its index doesn't find by this name is damaged: SQLite has no checksums that would detect it.
  const userUUID = db
    .prepare<[number], string>(`
      SELECT userUUID FROM user AS u
      WHERE user = ? AND user = (SELECT user FROM user WHERE account = u.account AND userUUID = u.userUUID)`)
    .pluck();
  const contactUUID = db
    .prepare<[number], string>(`
      SELECT contactUUID FROM contact AS c
      WHERE contact = ? AND contact = (SELECT contact FROM contact WHERE contactUUID = c.contactUUID)`)
    .pluck();
  const claimID = db.prepare<[number], string>('SELECT claimID FROM claim WHERE claim = ?').pluck();
  const erasedStretches = db.prepare<[number], { after: number; through: number }>(
    'SELECT after, through FROM erased_stretch WHERE user = ?',
  );
  const erasing = createErasingReader(db);
  const erasedContact = db.prepare<[number], number>('SELECT 1 FROM erased_contact WHERE contact = ?').pluck();

  /** Create one for each page: its events share the cached lookups. */
  return (account: number, entryMerges: CatalogueMerges) => {
    const statementsOf = remembering((user: number) => statements.forOwners(user));
    const follow = remembering((contact: number) => followMerges(merges.from(contact))(contact));
    const names = {
      eventName: remembering((eventID: number) => catalogues.eventName(account, eventID)),
      userUUID: remembering((user: number) => userUUID.get(user) ?? refuse(`user ${user}`)),
      contactUUID: remembering((contact: number) => contactUUID.get(contact) ?? refuse(`contact ${contact}`)),
      claimID: remembering((claim: number) => claimID.get(claim) ?? null),
    };
    const stretchesOf = remembering((user: number) => [...erasedStretches.all(user), ...erasing.stretchesOf(user)]);
    const isErasedContact = remembering((contact: number) => erasedContact.get(contact) !== undefined);

    return {
      /** Whether the event belongs to an erased contact and only waits to be deleted. */
      isErased: ({ sequence, user, contact }: KeptEvent): boolean => {
        if (contact !== null) return isErasedContact(contact);
        return stretchesOf(user as number).some(({ after, through }) => after < sequence && sequence <= through);
      },

      toStoredEvent: (event: KeptEvent): StoredEvent =>
        toStoredEvent(
          event,
          why(event, event.user === null ? [] : statementsOf(event.user), follow),
          names,
          entryMerges,
        ),
    };
  };
};
