/** Chooses the sources of the events that a query selects: a user, a contact, an eventID, or the whole account. */
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import type { WithIDs } from '../../rules/accounts/catalogue-rules.ts';
import type { DaySpan } from '../../rules/event-pages.ts';
import type { EventQuery, NamedContact } from '../../store.ts';
import { type ActiveDays, isActive } from '../contacts/active-days.ts';
import { createContactFinder } from '../contacts/contact-finder.ts';
import { type ContactRow, createMergeReader } from '../contacts/contact-rows.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';
import { type Source, sourcesOfKinds } from '../event-log/event-log.ts';

/** The sources of the events that a query selects. */
interface Sought {
  readonly sources: readonly Source[];
  /** The days that may have such events; undefined when this is not known. */
  readonly days: readonly DaySpan[] | undefined;
}

const always = { eventID: 0, after: 0, through: Infinity };

export const createEventSources = (db: Connection) => {
  const contacts = createContactFinder(db);
  const merges = createMergeReader(db);
  const statements = createStatementReader(db);
  const userByUUID = db.prepare<[number, string], ActiveDays & { user: number }>(
    'SELECT user, firstDay, lastDay, days FROM user WHERE account = ? AND userUUID = ?',
  );
  const userByNumber = db.prepare<[number], ActiveDays>('SELECT firstDay, lastDay, days FROM user WHERE user = ?');

  /**
   * Narrows a source to the sequences from its first to its last active day in `days`, which are all days of the account that the
   * query covers. Returns an empty list when it was active on none.
   */
  const between = (source: Source, active: ActiveDays, days: readonly DaySpan[]): Source[] => {
    const first = days.find(({ day }) => isActive(active, day));
    const last = days.findLast(({ day }) => isActive(active, day));
    if (!first || !last) return [];
    const after = Math.max(source.after, first.firstSequence - 1);
    const through = Math.min(source.through, last.lastSequence);
    return after < through ? [{ ...source, after, through }] : [];
  };

  /** The stretches of users' histories that the contact owns, and the events that were logged with its contactUUID. */
  const ofContact = (named: NamedContact, onlyUser: number | undefined, days: readonly DaySpan[]): Sought => {
    const group = merges.group(contacts.byName(named).contact);
    const users = new Set(group.flatMap((contact) => statements.usersOf(contact)));
    const sources: Source[] = [];
    const actives: ActiveDays[] = [];
    for (const user of users) {
      if (onlyUser !== undefined && user !== onlyUser) continue;
      const active = userByNumber.get(user) as ActiveDays;
      if (!days.some(({ day }) => isActive(active, day))) continue;
      const stretches = stretchesOwnedBy(group, statements.forOwners(user));
      if (stretches.length > 0) actives.push(active);
      for (const { after, through } of stretches) {
        sources.push(
          ...between({ what: 'user', number: user, eventID: 0, withoutContact: true, after, through }, active, days),
        );
      }
    }
    for (const contact of group) {
      const only = onlyUser === undefined ? {} : { contactAndUser: onlyUser };
      const active = contacts.get(contact) as ContactRow;
      actives.push(active);
      sources.push(...between({ ...always, what: 'contact', number: contact, ...only }, active, days));
    }
    return { sources, days: days.filter(({ day }) => actives.some((active) => isActive(active, day))) };
  };

  /** `days` are the days of the account that the query covers. Throws a Refusal when no contact has the contactUUID. */
  return (
    { account, userUUID, contactUUID, externalID, eventIDs }: WithIDs<EventQuery>,
    days: readonly DaySpan[],
  ): Sought => {
    const user = userUUID === undefined ? undefined : userByUUID.get(account, userUUID);
    if (contactUUID !== undefined || externalID !== undefined) {
      return ofContact(
        { account, contactUUID, externalID },
        userUUID === undefined ? undefined : (user?.user ?? 0),
        days,
      );
    }
    if (userUUID !== undefined) {
      if (!user) return { sources: [], days: [] };
      const sources = between({ ...always, what: 'user', number: user.user }, user, days);
      return { sources, days: days.filter(({ day }) => isActive(user, day)) };
    }
    return { sources: sourcesOfKinds(account, eventIDs), days: undefined };
  };
};
