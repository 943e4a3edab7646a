/** Builds the events of a response from their rows, with their owners and the reasons. */
import { followMerges } from '../../../identity/merges.ts';
import { why } from '../../../identity/ownership.ts';
import type { DecidingStatement } from '../../rules/links.ts';
import type { StoredEvent } from '../../store.ts';
import { type ContactRow, pointersOf, readChains } from '../contacts/contact-rows.ts';
import { marksOf, statementsForOwners } from '../contacts/statements.ts';
import { userUUIDsOf } from '../contacts/users.ts';
import type { Connection } from '../database/connection.ts';
import { type EventBody, readBody } from './event-body.ts';

interface EventFacts {
  readonly holder: number;
  readonly sequence: number;
  /** The user of an event that was logged with a contact too; otherwise null. */
  readonly user: number | null;
  readonly eventTime: number;
  readonly account: number;
  readonly day: number;
  readonly eventID: number;
}
/** A row of the table `event`. */
export type StoredRow = EventFacts & { readonly body: Buffer };
export type EventRow = EventFacts & EventBody;

/** Decodes a row. Names each property, because a spread takes three times as long, and a page has a thousand events. */
export const toRow = ({ holder, sequence, user, eventTime, account, day, eventID, body }: StoredRow): EventRow => {
  const { receivedTime, timeReplaced, eventUUID, attributes } = readBody(body, eventTime);
  return {
    holder,
    sequence,
    user,
    eventTime,
    account,
    day,
    eventID,
    receivedTime,
    timeReplaced,
    eventUUID,
    attributes,
  };
};

const distinct = <Value>(values: Iterable<Value>): Value[] => [...new Set(values)];

export const userOf = ({ holder, user }: Pick<EventRow, 'holder' | 'user'>): number | null =>
  holder > 0 ? holder : user;
/** Returns the contact that an event was logged with. */
export const contactOf = ({ holder }: Pick<EventRow, 'holder'>): number | null => (holder < 0 ? -holder : null);

const eventNamesOf = async (db: Connection, account: number, eventIDs: readonly number[]) => {
  const rows = await db.all<{ id: string; name: string }>(
    "SELECT id, name FROM catalogue WHERE account = $1 AND kind = 'event' AND id = ANY ($2::text[])",
    [account, eventIDs.map(String)],
  );
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
};

export const pairsOf = (attributes: readonly string[]): [string, string][] =>
  Array.from({ length: attributes.length / 2 }, (_, nth) => [
    attributes[2 * nth] as string,
    attributes[2 * nth + 1] as string,
  ]);

export const toEvents = async (db: Connection, account: number, rows: readonly EventRow[]): Promise<StoredEvent[]> => {
  const users = distinct(rows.flatMap((row) => userOf(row) ?? []));
  const [statements, userUUIDs, eventNames] = await Promise.all([
    statementsForOwners(db, users),
    userUUIDsOf(db, users),
    eventNamesOf(db, account, distinct(rows.map(({ eventID }) => eventID))),
  ]);
  const placed = rows.map((row) => {
    const user = userOf(row);
    const event = { sequence: row.sequence, contact: contactOf(row) };
    return { row, user, event, list: (user && statements.get(user)) || [] };
  });
  // Contacts and claims are read only for the statements that decide about these events.
  const decided = placed.map(({ event, list }) => why(event, list));
  const [contacts, claims] = await Promise.all([
    readChains(db, distinct(decided.flatMap(({ owner }) => owner ?? []))),
    marksOf(db, distinct(decided.flatMap(({ statement }) => (statement as DecidingStatement | null) ?? []))),
  ]);
  const follow = followMerges(pointersOf(contacts));
  const contactUUIDOf = (contact: number) => (contacts.get(contact) as ContactRow).contactUUID;

  return placed.map(({ row, user, event, list }): StoredEvent => {
    const { sequence, eventUUID, eventID, eventTime, receivedTime, timeReplaced } = row;
    const reason = why(event, list, follow);
    const statement = reason.statement as DecidingStatement | null;
    return {
      sequence,
      eventUUID,
      eventID,
      eventName: eventNames.get(eventID) ?? String(eventID),
      eventTime,
      receivedTime,
      timeReplaced,
      userUUID: user === null ? '' : (userUUIDs.get(user) as string),
      contactUUID: reason.owner === null ? '' : contactUUIDOf(reason.owner),
      attributes: pairsOf(row.attributes),
      why: {
        rule: reason.rule,
        linkID: statement === null ? null : String(statement.sequence),
        verified: statement?.verified ?? null,
        claimID: claims.get(statement?.claim ?? 0)?.claimID ?? null,
        mergedFrom: reason.mergedFrom === null ? null : contactUUIDOf(reason.mergedFrom),
      },
    };
  });
};
