/** Converts a stored event to an event on a page: adds its owner and the reason for the ownership. */
import { followMerges } from '../../../identity/merges.ts';
import { why } from '../../../identity/ownership.ts';
import type { CatalogueMerges } from '../../rules/accounts/entry-merges.ts';
import { toStoredEvent } from '../../rules/event-presenter.ts';
import type { StoredEvent } from '../../store.ts';
import { createMergeReader } from '../contacts/contact-rows.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';
import { createErasingReader } from '../erasure/erased-stretches.ts';
import type { EventRow } from '../event-log/event-log.ts';

const memoize = <Key, Value>(compute: (key: Key) => Value) => {
  const cache = new Map<Key, Value>();
  return (key: Key): Value => {
    if (cache.has(key)) return cache.get(key) as Value;
    const value = compute(key);
    cache.set(key, value);
    return value;
  };
};

const throwDamaged = (row: string): never => {
  throw new Error(`the row of ${row} is damaged: it does not match its index; restore a backup`);
};

export const createEventPresenter = (db: Connection) => {
  const statements = createStatementReader(db);
  const merges = createMergeReader(db);
  const eventName = db
    .prepare<[number, string], string>("SELECT name FROM catalogue WHERE account = ? AND kind = 'event' AND id = ?")
    .pluck();
  // Checks that the index leads back to the row. Otherwise, the index or the row is damaged, which SQLite does not
  // detect, because it has no checksums.
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

  /** Returns a function for one page, whose events share cached lookups. */
  return (account: number, entryMerges: CatalogueMerges) => {
    const statementsOf = memoize((user: number) => statements.forOwners(user));
    const follow = memoize((contact: number) => followMerges(merges.from(contact))(contact));
    const names = {
      eventName: memoize((eventID: number) => eventName.get(account, String(eventID))),
      userUUID: memoize((user: number) => userUUID.get(user) ?? throwDamaged(`user ${user}`)),
      contactUUID: memoize((contact: number) => contactUUID.get(contact) ?? throwDamaged(`contact ${contact}`)),
      claimID: memoize((claim: number) => claimID.get(claim) ?? null),
    };
    const stretchesOf = memoize((user: number) => [...erasedStretches.all(user), ...erasing.stretchesOf(user)]);
    const isErasedContact = memoize((contact: number) => erasedContact.get(contact) !== undefined);

    return {
      /** Whether the event belongs to an erased contact and will be deleted. */
      isErased: ({ sequence, user, contact }: EventRow): boolean => {
        if (contact !== null) return isErasedContact(contact);
        return stretchesOf(user as number).some(({ after, through }) => after < sequence && sequence <= through);
      },

      toStoredEvent: (event: EventRow): StoredEvent =>
        toStoredEvent(
          event,
          why(event, event.user === null ? [] : statementsOf(event.user), follow),
          names,
          entryMerges,
        ),
    };
  };
};
