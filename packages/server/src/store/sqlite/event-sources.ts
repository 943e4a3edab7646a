/** Which events a query is about: a user's, a contact's, a kind's, or the whole account's. */
import { stretchesOf } from '../../identity/ownership.ts';
import type { EventQuery } from '../store.ts';
import { type ActiveDays, isActive } from './active-days.ts';
import type { Connection } from './connection.ts';
import { type ContactRow, createContactFinder } from './contact-finder.ts';
import type { DaySpan } from './days.ts';
import type { Source } from './event-finder.ts';
import { createMergeReader } from './merges.ts';
import { createStatementReader } from './statements.ts';

/** Where the events of a query come from. */
export interface Sought {
  readonly sources: readonly Source[];
  /** The days on which there may be any; undefined when nothing is known of that. */
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

  /** The part of a source that lies within these days, which are all of the account's that a query is about. */
  const between = (source: Source, active: ActiveDays, days: readonly DaySpan[]): Source[] => {
    const first = days.find(({ day }) => isActive(active, day));
    const last = days.findLast(({ day }) => isActive(active, day));
    if (!first || !last) return [];
    const after = Math.max(source.after, first.firstSequence - 1);
    const through = Math.min(source.through, last.lastSequence);
    return after < through ? [{ ...source, after, through }] : [];
  };

  /** The stretches of users' histories that the contact owns, and what was logged with its contactUUID. */
  const ofContact = (
    account: number,
    contactUUID: string,
    onlyUser: number | undefined,
    days: readonly DaySpan[],
  ): Sought => {
    const group = merges.group(contacts.byName({ account, contactUUID }).contact);
    const users = new Set(group.flatMap((contact) => statements.ofContact(contact).map(({ user }) => user)));
    const sources: Source[] = [];
    const actives: ActiveDays[] = [];
    for (const user of users) {
      if (onlyUser !== undefined && user !== onlyUser) continue;
      const active = userByNumber.get(user) as ActiveDays;
      if (!days.some(({ day }) => isActive(active, day))) continue;
      const stretches = stretchesOf(statements.forOwners(user)).filter(
        ({ contact }) => contact !== null && group.includes(contact),
      );
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

  /** `days` are the account's that the query is about. Throws a Refusal when the contactUUID names nobody. */
  return ({ account, userUUID, contactUUID, eventID }: EventQuery, days: readonly DaySpan[]): Sought => {
    const user = userUUID === undefined ? undefined : userByUUID.get(account, userUUID);
    if (contactUUID !== undefined) {
      return ofContact(account, contactUUID, userUUID === undefined ? undefined : (user?.user ?? 0), days);
    }
    if (userUUID !== undefined) {
      if (!user) return { sources: [], days: [] };
      const sources = between({ ...always, what: 'user', number: user.user }, user, days);
      return { sources, days: days.filter(({ day }) => isActive(user, day)) };
    }
    const source: Source =
      eventID === undefined
        ? { ...always, what: 'account', number: account }
        : { ...always, what: 'kind', number: account, eventID };
    return { sources: [source], days: undefined };
  };
};
