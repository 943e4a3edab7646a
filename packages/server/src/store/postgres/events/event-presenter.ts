/** Builds the events of a response from their rows, with their owners and the reasons. */
import { followMerges } from '../../../identity/merges.ts';
import { why } from '../../../identity/ownership.ts';
import type { CatalogueMerges } from '../../rules/accounts/entry-merges.ts';
import { toKeptEventID, toStoredEvent } from '../../rules/event-presenter.ts';
import type { KeptEvent } from '../../rules/kept-event.ts';
import type { DecidingStatement } from '../../rules/links.ts';
import type { StoredEvent } from '../../store.ts';
import { type ContactRow, pointersOf, readChains } from '../contacts/contact-rows.ts';
import { marksOf, statementsForOwners } from '../contacts/statements.ts';
import { userUUIDsOf } from '../contacts/users.ts';
import type { AccountConnection } from '../database/connection.ts';
import { readBody } from './event-body.ts';

/** A row of the table `event`. */
export interface StoredRow extends Pick<KeptEvent, 'sequence' | 'eventTime' | 'account' | 'day' | 'eventID'> {
  /** The user; minus the contact, for an event that was logged with one. */
  readonly holder: number;
  /** The user of an event that was logged with a contact too; otherwise null. */
  readonly user: number | null;
  readonly body: Buffer;
}

/** Decodes a row. Names each property, because a spread takes three times as long, and a page has a thousand events. */
export const toEvent = ({ holder, sequence, user, eventTime, account, day, eventID, body }: StoredRow): KeptEvent => {
  const { receivedTime, timeReplaced, eventUUID, attributes } = readBody(body, eventTime);
  return {
    sequence,
    day,
    account,
    user: holder > 0 ? holder : user,
    contact: holder < 0 ? -holder : null,
    eventID,
    eventUUID,
    eventTime,
    receivedTime,
    timeReplaced,
    server: null,
    attributes,
  };
};

const distinct = <Value>(values: Iterable<Value>): Value[] => [...new Set(values)];

const eventNamesOf = async (db: AccountConnection, eventIDs: readonly number[]) => {
  const rows = await db.all<{ id: string; name: string }>(
    "SELECT id, name FROM catalogue WHERE account = $1 AND kind = 'event' AND id = ANY ($2::text[])",
    [db.account, eventIDs.map(String)],
  );
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
};

export const toStoredEvents = async (
  db: AccountConnection,
  _account: number,
  events: readonly KeptEvent[],
  merges: CatalogueMerges,
): Promise<StoredEvent[]> => {
  const users = distinct(events.flatMap(({ user }) => user ?? []));
  const [statements, userUUIDs, eventNames] = await Promise.all([
    statementsForOwners(db, users),
    userUUIDsOf(db, users),
    eventNamesOf(db, distinct(events.map(({ eventID }) => toKeptEventID(eventID, merges)))),
  ]);
  const statementsOf = ({ user }: KeptEvent) => (user && statements.get(user)) || [];
  // Contacts and claims are read only for the statements that decide about these events.
  const decided = events.map((event) => why(event, statementsOf(event)));
  const [contacts, claims] = await Promise.all([
    readChains(db, distinct(decided.flatMap(({ owner }) => owner ?? []))),
    marksOf(db, distinct(decided.flatMap(({ statement }) => (statement as DecidingStatement | null) ?? []))),
  ]);
  const follow = followMerges(pointersOf(contacts));
  const names = {
    eventName: (eventID: number) => eventNames.get(eventID) ?? String(eventID),
    userUUID: (user: number) => userUUIDs.get(user) as string,
    contactUUID: (contact: number) => (contacts.get(contact) as ContactRow).contactUUID,
    claimID: (claim: number) => claims.get(claim)?.claimID ?? null,
  };
  return events.map((event) => toStoredEvent(event, why(event, statementsOf(event), follow), names, merges));
};
