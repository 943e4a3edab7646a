/** The source of a query of events: those of a user, of a contact, or of the whole account. */
import { latestDay } from '../../../identity/last-seen.ts';
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import type { Statement } from '../../../identity/statements.ts';
import type { WithIDs } from '../../rules/accounts/catalogue-rules.ts';
import type { EventQuery, NamedContact } from '../../store.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import { type ContactRow, readContacts } from '../contacts/contact-rows.ts';
import { groupOf } from '../contacts/merges.ts';
import { statementsForOwners, usersOf } from '../contacts/statements.ts';
import { findUser, readUserRows, type UserRow } from '../contacts/users.ts';
import type { AccountConnection } from '../database/connection.ts';

/** The events of one holder with after < sequence <= through. */
export interface Stretch {
  readonly holder: number;
  readonly after: number;
  readonly through: number;
  /** Only events of this user; null: of all users. */
  readonly user: number | null;
}

export interface Source {
  /** Undefined: all events of the account. */
  readonly stretches: readonly Stretch[] | undefined;
  /** All events are on these days; `first` is beyond `last` when there are none. */
  readonly days: { readonly first: number; readonly last: number };
}

type ActiveDays = Pick<ContactRow, 'firstDay' | 'lastDay'>;

const always = { after: 0, through: Number.MAX_SAFE_INTEGER };

/** Returns the days of those users who have events. */
const daysOfUsers = async (db: AccountConnection, users: readonly number[]): Promise<UserRow[]> =>
  (await readUserRows(db, users)).filter(({ firstDay }) => firstDay !== null);

/** Returns the earliest first day and the latest last day. */
const span = (days: readonly ActiveDays[]): Source['days'] => ({
  first: days.reduce((first, { firstDay }) => Math.min(first, firstDay ?? Infinity), Infinity),
  last: latestDay(
    days.map(({ lastDay }) => lastDay ?? -Infinity),
    -Infinity,
  ),
});

export const createEventSources = (contacts: ContactFinder) => {
  /** Returns the stretches of users' histories that the contact owns, and the events that were logged with its contactUUID. */
  const ofContact = async (
    db: AccountConnection,
    named: Omit<NamedContact, 'account'>,
    onlyUser: number | undefined,
  ): Promise<Source> => {
    const { contact } = await contacts.byName(db, named);
    // At the same time, because most contacts are not merged.
    const [group, own] = await Promise.all([groupOf(db, contact), usersOf(db, [contact])]);
    const [linked, rows] = await Promise.all([group.length === 1 ? own : usersOf(db, group), readContacts(db, group)]);
    const asked = onlyUser === undefined ? linked : linked.filter((user) => user === onlyUser);
    const [daysOfThem, statements] = await Promise.all([daysOfUsers(db, asked), statementsForOwners(db, asked)]);
    const users = daysOfThem.map(({ user }) => user);
    const stretches = users.flatMap((user) =>
      stretchesOwnedBy(group, statements.get(user) as Statement[], { last: always.through }).map(
        (stretch): Stretch => ({ ...stretch, holder: user, user: null }),
      ),
    );
    const direct = group.map((contact): Stretch => ({ ...always, holder: -contact, user: onlyUser ?? null }));
    return { stretches: [...stretches, ...direct], days: span([...daysOfThem, ...rows]) };
  };

  /** Returns the events of a user, including those that were logged with a contact as well. */
  const ofUser = async (db: AccountConnection, user: number): Promise<Source> => {
    const [rows, days] = await Promise.all([
      db.all<{ contact: number }>('SELECT contact FROM user_contact WHERE account = $1 AND "user" = $2', [
        db.account,
        user,
      ]),
      daysOfUsers(db, [user]),
    ]);
    const withContacts = rows.map(({ contact }): Stretch => ({ ...always, holder: -contact, user }));
    return { stretches: [{ ...always, holder: user, user: null }, ...withContacts], days: span(days) };
  };

  /** Returns the source of a query. Throws a Refusal when the contactUUID names no contact. */
  return async (db: AccountConnection, query: WithIDs<EventQuery>): Promise<Source> => {
    const { userUUID, contactUUID, externalID } = query;
    const user = userUUID === undefined ? undefined : ((await findUser(db, userUUID)) ?? 0);
    if (contactUUID !== undefined || externalID !== undefined) {
      return ofContact(db, { contactUUID, externalID }, user);
    }
    if (user !== undefined) return ofUser(db, user);
    return { stretches: undefined, days: { first: -Infinity, last: Infinity } };
  };
};
