/**
 * Recognizes repeated eventUUIDs and requestUUIDs for 7 days after they were first sent. Keys are stored until 8 later
 * days have events or requests. Empty days don't count, so if the clock jumps years ahead, that is one new day, and no
 * key expires.
 */

import { createIdempotencyKeys, type SentByServer, type SentRequest, toBytes } from '../../rules/idempotency-keys.ts';
import { dedupDays } from '../../rules/received-day.ts';
import { type ActiveDays, isActive } from '../contacts/active-days.ts';
import type { Connection } from '../database/connection.ts';
import type { RecentKeys, SentEvent } from './recent-keys.ts';

interface RequestRow {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: number;
}

/** An event's key, without its day. */
type EventKey = Omit<SentEvent, 'day'>;

/** Pads lists of days with a number that no day has. */
const noDay = -1;

export const createDedup = (db: Connection, recentKeys: RecentKeys) => {
  const placeholders = (count: number) => Array.from({ length: count }, () => '?').join(', ');
  const days = placeholders(dedupDays);
  /** Prepares a statement for each possible number of days, because each day costs an index search. */
  const selectsOf = (table: string, condition: string) =>
    Array.from({ length: dedupDays + 1 }, (_, count) =>
      db
        .prepare<unknown[], number>(
          `SELECT 1 FROM ${table} WHERE day IN (${placeholders(count)}) AND eventUUID = ? AND holder = ?${condition}`,
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
  /** The key tables, with their primary keys. */
  const tables = [
    ['event_repeat', 'day, eventUUID, holder, server'],
    ['event_repeat_of_either', 'day, eventUUID, holder'],
    ['erased_repeat', 'day, hash'],
    ['request_repeat', 'day, requestUUID, token, user'],
  ];
  const deleteBefore = tables.map(([table, key]) =>
    db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE day < ? LIMIT ?)`),
  );
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  const dayBefore = db
    .prepare<unknown[], number | null>(
      `SELECT max(day) FROM (${tables.map(([table]) => `SELECT max(day) AS day FROM ${table} WHERE day < ?`).join(' UNION ALL ')})`,
    )
    .pluck();
  let recent: number[] = [noDay];
  /** Returns `day` and the previous days that have keys, newest first. */
  const recentDays = (day: number): number[] => {
    if (recent[0] === day) return recent;
    recentKeys.settle();
    const found = [day];
    while (found.length < dedupDays) {
      const before = found.at(-1) as number;
      found.push(before === noDay ? noDay : (dayBefore.get(...tables.map(() => before)) ?? noDay));
    }
    recent = found;
    return recent;
  };
  const { eventKey } = createIdempotencyKeys(secret);
  const hashOf = ({ holder, eventUUID }: EventKey, server: SentByServer) =>
    toBytes(eventKey(holder, eventUUID, server));

  const anyKey = {
    erased: db.prepare<[], number>('SELECT 1 FROM erased_repeat LIMIT 1').pluck(),
    /** Selects a key from before the token kind was stored. */
    ofEither: db.prepare<[], number>('SELECT 1 FROM event_repeat_of_either LIMIT 1').pluck(),
  };
  /** Whether `anyKey` has found keys of each kind; undefined until it has been read. */
  let hasKeys: { [Name in keyof typeof anyKey]?: boolean | undefined } = {};
  const hasAny = (name: keyof typeof anyKey): boolean => {
    hasKeys[name] ??= anyKey[name].get() !== undefined;
    return hasKeys[name];
  };

  const isRepeat = (day: number, sent: EventKey, active: ActiveDays): boolean => {
    const { eventUUID, holder, server } = sent;
    const recent = recentDays(day);
    if (recentKeys.has(eventUUID, holder, server)) return true;
    // Searches only the days on which the holder had events.
    if (active.lastDay === null) return false;
    const activeDays = recent.filter((each) => isActive(active, each));
    if (activeDays.length > 0) {
      if (selects[activeDays.length]?.get(...activeDays, eventUUID, holder, server) !== undefined) return true;
      if (hasAny('ofEither') && selectsOfEither[activeDays.length]?.get(...activeDays, eventUUID, holder) !== undefined)
        return true;
    }
    return hasAny('erased') && selectErased.get(...recent, hashOf(sent, server), hashOf(sent, null)) !== undefined;
  };

  const reset = () => {
    recent = [noDay];
    hasKeys = {};
  };

  /** Deletes an event's key. Returns whether it existed. */
  const drop = ({ day, eventUUID, holder, server }: SentEvent): boolean => {
    recentKeys.settle();
    const dropped =
      server === null ? eraseOfEither.run(day, eventUUID, holder) : erase.run(day, eventUUID, holder, server);
    return dropped.changes > 0;
  };

  return {
    forget: reset,
    undo: reset,
    /** Whether the holder sent this event before. */
    isRepeat,
    /** Adds an event's key. Returns false, and adds nothing, if it was sent before. */
    remember: (day: number, sent: EventKey, active: ActiveDays): boolean => {
      if (isRepeat(day, sent, active)) return false;
      recentKeys.add(day, sent);
      return true;
    },
    /** Replaces an erased event's key with a keyed hash, so that a repeat is still recognized. */
    erase: (event: SentEvent) => {
      if (!drop(event)) return;
      insertErased.run(event.day, hashOf(event, event.server));
      hasKeys.erased = true;
    },
    /** Deletes an event's key, so that the event can be stored again. */
    drop,
    /** Returns the stored result of a repeated request. */
    findRequest: (day: number, { requestUUID, token, user }: SentRequest): RequestRow | undefined =>
      selectRequest.get(...recentDays(day), requestUUID, token, user),
    rememberRequest: (
      day: number,
      { requestUUID, token, user }: SentRequest,
      { contact, claim, existed }: { contact: number; claim: number | null; existed: boolean },
    ) => {
      insertRequest.run(day, requestUUID, token, user, contact, claim, Number(existed));
    },
    /**
     * Deletes up to `limit` keys from before the days that are searched for repeats. Returns whether more may remain.
     */
    forgetOld: (day: number, limit: number): boolean => {
      hasKeys.ofEither = undefined;
      return deleteBefore.some((statement) => statement.run(recentDays(day).at(-1) as number, limit).changes > 0);
    },
  };
};
export type Dedup = ReturnType<typeof createDedup>;
