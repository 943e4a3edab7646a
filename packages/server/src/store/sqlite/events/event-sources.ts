/** Chooses the sources of a query's events: a user, a contact, an eventID, or the whole account. */
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import type { ResolvedQuery } from '../../rules/accounts/catalogue-rules.ts';
import type { DaySpan } from '../../rules/event-pages.ts';
import type { EventQuery, NamedContact } from '../../store.ts';
import { type ActiveDays, isActive } from '../contacts/active-days.ts';
import { createContactFinder } from '../contacts/contact-finder.ts';
import { type ContactRow, createMergeReader } from '../contacts/contact-rows.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';
import { type Source, sourcesOfKinds } from '../event-log/event-log.ts';

interface SourcePlan {
  readonly sources: readonly Source[];
  /** The days that may have events of these sources; undefined if they are unknown. */
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
   * Narrows a source to its first through last active day among `days`, the account's days that the query covers.
   * Returns an empty list if the source has no active day among them.
   */
  const narrow = (source: Source, active: ActiveDays, days: readonly DaySpan[]): Source[] => {
    const first = days.find(({ day }) => isActive(active, day));
    const last = days.findLast(({ day }) => isActive(active, day));
    if (!first || !last) return [];
    const after = Math.max(source.after, first.firstSequence - 1);
    const through = Math.min(source.through, last.lastSequence);
    return after < through ? [{ ...source, after, through }] : [];
  };

  /** Returns the parts of users' histories that the contact owns, and the events logged with its contactUUID. */
  const ofContact = (
    contactNames: NamedContact,
    onlyUser: number | undefined,
    days: readonly DaySpan[],
  ): SourcePlan => {
    const group = merges.group(contacts.byName(contactNames).contact);
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
          ...narrow({ what: 'user', number: user, eventID: 0, withoutContact: true, after, through }, active, days),
        );
      }
    }
    for (const contact of group) {
      const only = onlyUser === undefined ? {} : { contactAndUser: onlyUser };
      const active = contacts.get(contact) as ContactRow;
      actives.push(active);
      sources.push(...narrow({ ...always, what: 'contact', number: contact, ...only }, active, days));
    }
    return { sources, days: days.filter(({ day }) => actives.some((active) => isActive(active, day))) };
  };

  /** `days` are the account's days that the query covers. Throws a Refusal if the contact does not exist. */
  return (
    { account, userUUID, contactUUID, externalID, eventIDs }: ResolvedQuery<EventQuery>,
    days: readonly DaySpan[],
  ): SourcePlan => {
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
      const sources = narrow({ ...always, what: 'user', number: user.user }, user, days);
      return { sources, days: days.filter(({ day }) => isActive(user, day)) };
    }
    return { sources: sourcesOfKinds(account, eventIDs), days: undefined };
  };
};
