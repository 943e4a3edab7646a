/** Where a query's events lie: an index of a user, of a contact, of a kind, or of the whole account. */
import { stretchesOf } from '../../identity/ownership.ts';
import type { EventQuery } from '../store.ts';
import type { Connection } from './connection.ts';
import { createContactFinder } from './contact-finder.ts';
import type { DaySpan } from './days.ts';
import { createMergeReader } from './merges.ts';
import { createStatementReader } from './statements.ts';

export interface EventRow {
  readonly sequence: number;
  readonly user: number | null;
  readonly contact: number | null;
  readonly eventID: number;
  readonly eventUUID: string;
  readonly eventTime: number;
  readonly receivedTime: number;
  readonly timeReplaced: number;
  readonly attributes: string;
}

type Index = 'user' | 'stretch' | 'contact' | 'contactOfUser' | 'kind' | 'account';

/** A part of an index, between two sequences and two days. */
export interface Source {
  readonly index: Index;
  /** What the index is asked for: a user, a contact, … */
  readonly keys: readonly number[];
  readonly after: number;
  readonly through: number;
  readonly firstDay: number;
  readonly lastDay: number;
}

const always = { after: 0, through: Infinity, firstDay: -Infinity, lastDay: Infinity };

/** For each index its name, and what it is asked. `byDay` indexes begin with the day. */
const indexes: Record<Index, { name: string; where: string; byDay: boolean }> = {
  user: { name: 'event_by_user', where: 'day = ? AND user = ?', byDay: true },
  stretch: { name: 'event_by_user', where: 'day = ? AND user = ? AND contact IS NULL', byDay: true },
  contact: { name: 'event_by_contact', where: 'day = ? AND contact = ?', byDay: true },
  contactOfUser: { name: 'event_by_contact', where: 'day = ? AND contact = ? AND user = ?', byDay: true },
  kind: { name: 'event_by_kind', where: 'account = ? AND eventID = ?', byDay: false },
  account: { name: 'event_by_account', where: 'account = ?', byDay: false },
};

export interface RowRange {
  readonly after: number;
  readonly through: number;
  readonly order: 'asc' | 'desc';
  readonly most: number;
  /** About so many bytes of attributes; one row may always be more. */
  readonly mostBytes: number;
}

export interface RowBatch {
  readonly rows: EventRow[];
  /** Whether there may be more of them, beyond the last. */
  readonly full: boolean;
}

export const createEventSources = (db: Connection) => {
  const contacts = createContactFinder(db);
  const merges = createMergeReader(db);
  const statements = createStatementReader(db);
  const userByUUID = db.prepare<[number, string], { user: number; firstDay: number | null; lastDay: number | null }>(
    'SELECT user, firstDay, lastDay FROM user WHERE account = ? AND userUUID = ?',
  );
  const userByNumber = db.prepare<[number], { firstDay: number | null; lastDay: number | null }>(
    'SELECT firstDay, lastDay FROM user WHERE user = ?',
  );

  const prepare = (index: Index, order: 'asc' | 'desc') => {
    const { name, where } = indexes[index];
    return db.prepare<number[], EventRow>(`
      SELECT sequence, user, contact, eventID, eventUUID, eventTime, receivedTime, timeReplaced, attributes
      FROM event INDEXED BY ${name}
      WHERE ${where} AND sequence > ? AND sequence <= ? ORDER BY sequence ${order} LIMIT ?`);
  };
  const prepared = Object.fromEntries(
    (Object.keys(indexes) as Index[]).map((index) => [
      index,
      { asc: prepare(index, 'asc'), desc: prepare(index, 'desc') },
    ]),
  ) as Record<Index, Record<'asc' | 'desc', ReturnType<typeof prepare>>>;

  const daysOf = (row: { firstDay: number | null; lastDay: number | null } | undefined) => ({
    firstDay: row?.firstDay ?? Infinity,
    lastDay: row?.lastDay ?? -Infinity,
  });

  /** The stretches of users' histories that the contact owns, and what was logged with its contactUUID. */
  const ofContact = (account: number, contactUUID: string, onlyUser: number | undefined): Source[] => {
    const group = merges.group(contacts.byName({ account, contactUUID }).contact);
    const users = new Set(group.flatMap((contact) => statements.ofContact(contact).map(({ user }) => user)));
    const sources: Source[] = [];
    for (const user of users) {
      if (onlyUser !== undefined && user !== onlyUser) continue;
      const days = daysOf(userByNumber.get(user));
      for (const { contact, after, through } of stretchesOf(statements.ofUser(user))) {
        if (contact !== null && group.includes(contact)) {
          sources.push({ index: 'stretch', keys: [user], after, through, ...days });
        }
      }
    }
    for (const contact of group) {
      const days = daysOf(contacts.get(contact));
      sources.push(
        onlyUser === undefined
          ? { ...always, index: 'contact', keys: [contact], ...days }
          : { ...always, index: 'contactOfUser', keys: [contact, onlyUser], ...days },
      );
    }
    return sources;
  };

  return {
    /** Throws a Refusal when the contactUUID names nobody. */
    sourcesOf({ account, userUUID, contactUUID, eventID }: EventQuery): Source[] {
      const user = userUUID === undefined ? undefined : userByUUID.get(account, userUUID);
      if (contactUUID !== undefined) {
        const sources = ofContact(account, contactUUID, userUUID === undefined ? undefined : (user?.user ?? 0));
        return sources;
      }
      if (userUUID !== undefined) return user ? [{ ...always, index: 'user', keys: [user.user], ...daysOf(user) }] : [];
      if (eventID !== undefined) return [{ ...always, index: 'kind', keys: [account, eventID] }];
      return [{ ...always, index: 'account', keys: [account] }];
    },

    /** The next rows of a source on a day, in order, as many as the range allows at once. */
    rows({ index, keys, ...source }: Source, day: DaySpan, range: RowRange): RowBatch {
      const after = Math.max(source.after, range.after, day.firstSequence - 1);
      const through = Math.min(source.through, range.through, day.lastSequence);
      const rows: EventRow[] = [];
      if (after >= through) return { rows, full: false };
      const leading = indexes[index].byDay ? [day.day, ...keys] : keys;
      let bytes = 0;
      for (const row of prepared[index][range.order].iterate(...leading, after, through, range.most)) {
        rows.push(row);
        bytes += row.attributes.length;
        if (bytes >= range.mostBytes) return { rows, full: true };
      }
      return { rows, full: rows.length === range.most };
    },
  };
};
