/**
 * Recognizes repeats: an eventUUID or requestUUID is known for 7 days after it was first sent, and its key is stored until
 * something has been sent on 8 later days. Only days on which something was sent count: a clock that jumps years ahead makes one
 * new day, and makes nothing old.
 */

import { createIdempotencyKeys, type SentByServer, type SentRequest, toBytes } from '../../rules/idempotency-keys.ts';
import { daysKept } from '../../rules/received-day.ts';
import { type ActiveDays, isActive } from '../contacts/active-days.ts';
import type { Connection } from '../database/connection.ts';
import type { RecentKeys, SentEvent } from './recent-keys.ts';

interface RequestRow {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: number;
}

/** The key of an event, without a day. */
type Sent = Omit<SentEvent, 'day'>;

/** Fills lists of days that are too short; no day has this number. */
const noDay = -1;

export const createDedup = (db: Connection, recentKeys: RecentKeys) => {
  const daysOf = (count: number) => Array.from({ length: count }, () => '?').join(', ');
  const days = daysOf(daysKept);
  /** One statement for each number of days: each day costs a search in another place. */
  const selectsOf = (table: string, condition: string) =>
    Array.from({ length: daysKept + 1 }, (_, count) =>
      db
        .prepare<unknown[], number>(
          `SELECT 1 FROM ${table} WHERE day IN (${daysOf(count)}) AND eventUUID = ? AND holder = ?${condition}`,
        )
        .pluck(),
    );
  const selects = selectsOf('event_repeat', ' AND server = ?');
  const selectsOfEither = selectsOf('event_repeat_of_either', '');
  const selectErased = db
    .prepare<unknown[], number>(`SELECT 1 FROM erased_repeat WHERE day IN (${days}) AND hash IN (?, ?)`)
    .pluck();
  const insertErased = db.prepare('INSERT OR IGNORE INTO erased_repeat (day, hash) VALUES (?, ?)');
  const erase = db.prepare('DELETE FROM event_repeat WHERE day = ? AND eventUUID = ? AND holder = ? AND server = ?');
  const eraseOfEither = db.prepare('DELETE FROM event_repeat_of_either WHERE day = ? AND eventUUID = ? AND holder = ?');
  const selectRequest = db.prepare<unknown[], RequestRow>(
    `SELECT contact, claim, existed FROM request_repeat WHERE day IN (${days}) AND requestUUID = ? AND token = ? AND user = ?`,
  );
  const insertRequest = db.prepare('INSERT OR REPLACE INTO request_repeat VALUES (?, ?, ?, ?, ?, ?, ?)');
  /** The tables of keys, with their primary keys. */
  const tables = [
    ['event_repeat', 'day, eventUUID, holder, server'],
    ['event_repeat_of_either', 'day, eventUUID, holder'],
    ['erased_repeat', 'day, hash'],
    ['request_repeat', 'day, requestUUID, token, user'],
  ];
  const forgetBefore = tables.map(([table, key]) =>
    db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE day < ? LIMIT ?)`),
  );
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  const dayBefore = db
    .prepare<unknown[], number | null>(
      `SELECT max(day) FROM (${tables.map(([table]) => `SELECT max(day) AS day FROM ${table} WHERE day < ?`).join(' UNION ALL ')})`,
    )
    .pluck();
  let recent: number[] = [noDay];
  /** `day` and the days before it on which something was sent, the latest first. */
  const recentDays = (day: number): number[] => {
    if (recent[0] === day) return recent;
    recentKeys.settle();
    const found = [day];
    while (found.length < daysKept) {
      const before = found.at(-1) as number;
      found.push(before === noDay ? noDay : (dayBefore.get(...tables.map(() => before)) ?? noDay));
    }
    recent = found;
    return recent;
  };
  const { eventKey } = createIdempotencyKeys(secret);
  const hashOf = ({ holder, eventUUID }: Sent, server: SentByServer) => toBytes(eventKey(holder, eventUUID, server));

  const firstOf = {
    erased: db.prepare<[], number>('SELECT 1 FROM erased_repeat LIMIT 1').pluck(),
    /** A key without a kind of token, from before the kind was stored. */
    ofEither: db.prepare<[], number>('SELECT 1 FROM event_repeat_of_either LIMIT 1').pluck(),
  };
  /** Whether there are such keys at all; undefined while that has not been read. */
  let known: { [Name in keyof typeof firstOf]?: boolean | undefined } = {};
  const hasAny = (name: keyof typeof firstOf): boolean => {
    known[name] ??= firstOf[name].get() !== undefined;
    return known[name];
  };

  const isRepeat = (day: number, sent: Sent, active: ActiveDays): boolean => {
    const { eventUUID, holder, server } = sent;
    const recent = recentDays(day);
    if (recentKeys.has(eventUUID, holder, server)) return true;
    // Only days on which the holder had events need to be searched.
    if (active.lastDay === null) return false;
    const asked = recent.filter((each) => isActive(active, each));
    if (asked.length > 0) {
      if (selects[asked.length]?.get(...asked, eventUUID, holder, server) !== undefined) return true;
      if (hasAny('ofEither') && selectsOfEither[asked.length]?.get(...asked, eventUUID, holder) !== undefined)
        return true;
    }
    return hasAny('erased') && selectErased.get(...recent, hashOf(sent, server), hashOf(sent, null)) !== undefined;
  };

  const doubt = () => {
    recent = [noDay];
    known = {};
  };

  /** Deletes the key of an event. Returns whether there was one. */
  const drop = ({ day, eventUUID, holder, server }: SentEvent): boolean => {
    recentKeys.settle();
    const dropped =
      server === null ? eraseOfEither.run(day, eventUUID, holder) : erase.run(day, eventUUID, holder, server);
    return dropped.changes > 0;
  };

  return {
    forget: doubt,
    undo: doubt,
    /** Whether an event of a holder was sent before. */
    isRepeat,
    /** Remembers an event. Returns false, and does nothing, when it was sent before. */
    remember: (day: number, sent: Sent, active: ActiveDays): boolean => {
      if (isRepeat(day, sent, active)) return false;
      recentKeys.add(day, sent);
      return true;
    },
    /** Replaces the key of an erased event with a keyed hash, by which a repeat is still recognized. */
    erase: (event: SentEvent) => {
      if (!drop(event)) return;
      insertErased.run(event.day, hashOf(event, event.server));
      known.erased = true;
    },
    /** Forgets an event that is deleted with its account. */
    drop,
    /** Returns the stored result of a request that was sent before. */
    findRequest: (day: number, { requestUUID, token, user }: SentRequest): RequestRow | undefined =>
      selectRequest.get(...recentDays(day), requestUUID, token, user),
    rememberRequest: (
      day: number,
      { requestUUID, token, user }: SentRequest,
      { contact, claim, existed }: { contact: number; claim: number | null; existed: boolean },
    ) => {
      insertRequest.run(day, requestUUID, token, user, contact, claim, Number(existed));
    },
    /** Deletes up to `most` keys that are older than the days that are searched. Returns whether there may be more. */
    forgetOld: (day: number, most: number): boolean => {
      known.ofEither = undefined;
      return forgetBefore.some((statement) => statement.run(recentDays(day).at(-1) as number, most).changes > 0);
    },
  };
};
export type Dedup = ReturnType<typeof createDedup>;
