/** The source of an event query: a user, a contact, or the whole account. */
import { latestDay } from '../../../identity/last-seen.ts';
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import type { EventQuery, NamedContact } from '../../store.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import { groupOf } from '../contacts/merges.ts';
import {
  noFacts,
  numbersOf,
  type OwnerFacts,
  readContactFacts,
  readUserWithContacts,
} from '../contacts/owner-facts.ts';
import { findUser } from '../contacts/users.ts';
import type { AccountConnection } from '../database/connection.ts';

/** The events of one holder with after < sequence <= through. */
export interface Stretch {
  readonly holder: number;
  readonly after: number;
  readonly through: number;
  /** Only this user's events. Null for all users' events. */
  readonly user: number | null;
}

export interface Source {
  /** Undefined: all events of the account. */
  readonly stretches: readonly Stretch[] | undefined;
  /** The days of the source's events; if there are none, `first` is after `last`. */
  readonly days: { readonly first: number; readonly last: number };
  /** The contacts and users that were read to find the stretches. */
  readonly facts: OwnerFacts;
}

type ActiveDays = Pick<ContactRow, 'firstDay' | 'lastDay'>;

const always = { after: 0, through: Number.MAX_SAFE_INTEGER };

/** Returns the earliest first day and the latest last day. */
const span = (days: readonly ActiveDays[]): Source['days'] => ({
  first: days.reduce((first, { firstDay }) => Math.min(first, firstDay ?? Infinity), Infinity),
  last: latestDay(
    days.map(({ lastDay }) => lastDay ?? -Infinity),
    -Infinity,
  ),
});

export const createEventSources = (contacts: ContactFinder) => {
  /** Returns the stretches of user histories that the contact owns, and events logged with its contactUUID. */
  const ofContact = async (
    db: AccountConnection,
    named: Omit<NamedContact, 'account'>,
    userUUID: string | undefined,
  ): Promise<Source> => {
    const [initial, only = 0] = await Promise.all([
      readContactFacts(db, contacts.named(named), userUUID),
      userUUID === undefined ? undefined : findUser(db, userUUID),
    ]);
    const [contact] = initial.contacts;
    if (!contact) throw await contacts.missingNamed(db, named);
    const group = initial.isMerged ? await groupOf(db, contact.contact) : [contact.contact];
    const facts = initial.isMerged ? await readContactFacts(db, numbersOf(group), userUUID) : initial;
    // 0 selects no user, because user numbers start at 1.
    const onlyUser = userUUID === undefined ? null : only;
    // A user without events has no first day.
    const active = facts.users.filter(({ firstDay }) => firstDay !== null);
    const stretches = active.flatMap(({ user }) =>
      stretchesOwnedBy(group, facts.statements.get(user) ?? [], { last: always.through }).map(
        (stretch): Stretch => ({ ...stretch, holder: user, user: null }),
      ),
    );
    const direct = group.map((contact): Stretch => ({ ...always, holder: -contact, user: onlyUser }));
    return { stretches: [...stretches, ...direct], days: span([...active, ...facts.contacts]), facts };
  };

  /** Returns a user's events, including those that were also logged with a contact. */
  const ofUser = async (db: AccountConnection, userUUID: string): Promise<Source> => {
    const { loggedWith, ...facts } = await readUserWithContacts(db, userUUID);
    const stretches = facts.users.flatMap(({ user }): Stretch[] => [
      { ...always, holder: user, user: null },
      ...loggedWith.map((contact) => ({ ...always, holder: -contact, user })),
    ]);
    return { stretches, days: span(facts.users), facts };
  };

  /** Returns a query's source. Throws a Refusal if the contactUUID does not identify a contact. */
  return async (
    db: AccountConnection,
    { userUUID, contactUUID, externalID }: Pick<EventQuery, 'userUUID' | 'contactUUID' | 'externalID'>,
  ): Promise<Source> => {
    if (contactUUID !== undefined || externalID !== undefined)
      return ofContact(db, { contactUUID, externalID }, userUUID);
    if (userUUID !== undefined) return ofUser(db, userUUID);
    return { stretches: undefined, days: { first: -Infinity, last: Infinity }, facts: noFacts };
  };
};
