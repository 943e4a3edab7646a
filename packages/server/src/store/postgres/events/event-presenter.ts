/** Builds the events in a response from their rows, with their owners and the reasons for the ownership. */
import { followMerges } from '../../../identity/merges.ts';
import { why } from '../../../identity/ownership.ts';
import { distinct } from '../../../shared/distinct.ts';
import type { CatalogueMerges } from '../../rules/accounts/entry-merges.ts';
import { toMergedEventID, toStoredEvent } from '../../rules/event-presenter.ts';
import type { EventRow } from '../../rules/event-row.ts';
import type { StoredEvent } from '../../store.ts';
import { type ContactRow, pointersOf, readChains } from '../contacts/contact-rows.ts';
import {
  type ClaimedStatement,
  numbersOf,
  type OwnerFacts,
  readUserFacts,
  readUsers,
} from '../contacts/owner-facts.ts';
import type { AccountConnection } from '../database/connection.ts';
import { readBody } from './event-body.ts';

/** A row of the table `event`. */
export interface StoredRow extends Pick<EventRow, 'sequence' | 'eventTime' | 'account' | 'day' | 'eventID'> {
  /** The user or, for an event that was logged with a contact, the negated contact. */
  readonly holder: number;
  /** The user of an event that was also logged with a contact; otherwise null. */
  readonly user: number | null;
  readonly body: Buffer;
}

/** Decodes a row. Copies each property by name, because a spread takes three times as long. */
export const toEvent = ({ holder, sequence, user, eventTime, account, day, eventID, body }: StoredRow): EventRow => {
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

/** The parts of an account's catalogues that concern a page's events. */
interface Entries {
  readonly merges: CatalogueMerges;
  /** Returns event names; null for unlisted events. */
  namesOf(eventIDs: readonly number[]): Promise<ReadonlyMap<number, string | null>>;
}

export const toStoredEvents = async (
  db: AccountConnection,
  events: readonly EventRow[],
  { merges, namesOf }: Entries,
  facts: OwnerFacts,
): Promise<StoredEvent[]> => {
  const userUUIDs = new Map(facts.users.map(({ user, userUUID }) => [user, userUUID]));
  const unresolved = events.filter(({ user }) => user !== null && !userUUIDs.has(user));
  const usersOf = (some: readonly EventRow[]) => distinct(some.flatMap(({ user }) => user ?? []));
  // The owner of an event that was logged with a contact does not depend on the user's statements.
  const onlyNamed = usersOf(unresolved.filter(({ contact }) => contact !== null));
  const [others, named, eventNames] = await Promise.all([
    readUserFacts(db, usersOf(unresolved.filter(({ contact }) => contact === null))),
    onlyNamed.length === 0 ? [] : readUsers(db, numbersOf(onlyNamed)),
    namesOf(distinct(events.map(({ eventID }) => toMergedEventID(eventID, merges)))),
  ]);
  for (const { user, userUUID } of [...others.users, ...named]) userUUIDs.set(user, userUUID);
  const statementsOf = ({ user }: EventRow): readonly ClaimedStatement[] =>
    (user === null ? undefined : (facts.statements.get(user) ?? others.statements.get(user))) ?? [];
  // Reads only the contacts in the deciding statements.
  const decided = events.map((event) => why(event, statementsOf(event)));
  const contacts = await readChains(db, distinct(decided.flatMap(({ owner }) => owner ?? [])), facts.contacts);
  const claimIDs = new Map(
    decided.flatMap(({ statement }) => {
      const { claim, claimID } = (statement ?? {}) as Partial<ClaimedStatement>;
      return claim && claimID ? [[claim, claimID]] : [];
    }),
  );
  const follow = followMerges(pointersOf(contacts));
  const names = {
    eventName: (eventID: number) => eventNames.get(eventID) ?? undefined,
    userUUID: (user: number) => userUUIDs.get(user) as string,
    contactUUID: (contact: number) => (contacts.get(contact) as ContactRow).contactUUID,
    claimID: (claim: number) => claimIDs.get(claim) ?? null,
  };
  return events.map((event) => toStoredEvent(event, why(event, statementsOf(event), follow), names, merges));
};
