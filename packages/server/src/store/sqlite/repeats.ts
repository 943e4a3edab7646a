/**
 * What was sent before: an eventUUID or requestUUID is known for 7 days from the first, and kept until something has been
 * sent on 8 later ones. Counted are the days that were, not those of the calendar: a clock that jumps years ahead makes
 * one day, and nothing old.
 */
import { daysKept } from '../received-day.ts';
import { createSentKeys, type SentByServer, toBytes } from '../sent-keys.ts';
import { type ActiveDays, isActive } from './active-days.ts';
import type { Connection } from './connection.ts';
import type { RecentRepeats, SentEvent } from './recent-repeats.ts';

/** What a requestUUID is known by: another token, or another user, may use the same. */
export interface SentRequest {
  readonly requestUUID: string;
  readonly token: number;
  readonly user: number;
}

interface RequestRow {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: number;
}

/** An event, as it is sent. */
type Sent = Omit<SentEvent, 'day'>;

/** A day that never is, where there are fewer. */
const noDay = -1;

export const createRepeats = (db: Connection, latest: RecentRepeats) => {
  const daysOf = (count: number) => Array.from({ length: count }, () => '?').join(', ');
  const days = daysOf(daysKept);
  /** Of so many days: each is a look into another place. */
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
  const firstOfEither = db.prepare<[], number>('SELECT 1 FROM event_repeat_of_either LIMIT 1').pluck();
  const selectErased = db
    .prepare<unknown[], number>(`SELECT 1 FROM erased_repeat WHERE day IN (${days}) AND hash IN (?, ?)`)
    .pluck();
  const firstErased = db.prepare<[], number>('SELECT 1 FROM erased_repeat LIMIT 1').pluck();
  const insertErased = db.prepare('INSERT OR IGNORE INTO erased_repeat (day, hash) VALUES (?, ?)');
  const erase = db.prepare('DELETE FROM event_repeat WHERE day = ? AND eventUUID = ? AND holder = ? AND server = ?');
  const eraseOfEither = db.prepare('DELETE FROM event_repeat_of_either WHERE day = ? AND eventUUID = ? AND holder = ?');
  const selectRequest = db.prepare<unknown[], RequestRow>(
    `SELECT contact, claim, existed FROM request_repeat WHERE day IN (${days}) AND requestUUID = ? AND token = ? AND user = ?`,
  );
  const insertRequest = db.prepare('INSERT OR REPLACE INTO request_repeat VALUES (?, ?, ?, ?, ?, ?, ?)');
  const forgetBefore = [
    ['event_repeat', 'day, eventUUID, holder, server'],
    ['event_repeat_of_either', 'day, eventUUID, holder'],
    ['erased_repeat', 'day, hash'],
    ['request_repeat', 'day, requestUUID, token, user'],
  ].map(([table, key]) =>
    db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE day < ? LIMIT ?)`),
  );
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;

  const tables = ['event_repeat', 'event_repeat_of_either', 'erased_repeat', 'request_repeat'];
  const dayBefore = db
    .prepare<unknown[], number | null>(
      `SELECT max(day) FROM (${tables.map((table) => `SELECT max(day) AS day FROM ${table} WHERE day < ?`).join(' UNION ALL ')})`,
    )
    .pluck();
  let recent: number[] = [noDay];
  /** That day and those before it on which something was sent, the latest first. */
  const recentDays = (day: number): number[] => {
    if (recent[0] === day) return recent;
    latest.settle();
    const found = [day];
    while (found.length < daysKept) {
      const before = found.at(-1) as number;
      found.push(before === noDay ? noDay : (dayBefore.get(...tables.map(() => before)) ?? noDay));
    }
    recent = found;
    return recent;
  };
  const { eventKey } = createSentKeys(secret);
  const hashOf = ({ holder, eventUUID }: Sent, server: SentByServer) => toBytes(eventKey(holder, eventUUID, server));
  /** Whether anything may have been erased, as far as it has been asked. */
  let hasErased: boolean | undefined;
  const anyErased = (): boolean => {
    hasErased ??= firstErased.get() !== undefined;
    return hasErased;
  };

  /** Whether any is left of those that were kept before the kinds of tokens were told apart, as far as it has been asked. */
  let hasOfEither: boolean | undefined;
  const anyOfEither = (): boolean => {
    hasOfEither ??= firstOfEither.get() !== undefined;
    return hasOfEither;
  };

  const isRepeat = (day: number, sent: Sent, active: ActiveDays): boolean => {
    const { eventUUID, holder, server } = sent;
    const recent = recentDays(day);
    if (latest.has(eventUUID, holder, server)) return true;
    // Only on days on which the holder had events is there anything to look for.
    if (active.lastDay === null) return false;
    const asked = recent.filter((each) => isActive(active, each));
    if (asked.length > 0) {
      if (selects[asked.length]?.get(...asked, eventUUID, holder, server) !== undefined) return true;
      if (anyOfEither() && selectsOfEither[asked.length]?.get(...asked, eventUUID, holder) !== undefined) return true;
    }
    return anyErased() && selectErased.get(...recent, hashOf(sent, server), hashOf(sent, null)) !== undefined;
  };

  const doubt = () => {
    recent = [noDay];
    hasErased = undefined;
    hasOfEither = undefined;
  };

  return {
    forget: doubt,
    undo: doubt,
    /** Whether an event of a holder was sent before. */
    isRepeat,
    /** Remembers an event; answers false, and does nothing, when it was sent before. */
    remember: (day: number, sent: Sent, active: ActiveDays): boolean => {
      if (isRepeat(day, sent, active)) return false;
      latest.add(day, sent);
      return true;
    },
    /** From here on only a hash tells that this eventUUID was sent. */
    erase: ({ day, ...sent }: SentEvent) => {
      latest.settle();
      const { eventUUID, holder, server } = sent;
      const { changes } =
        server === null ? eraseOfEither.run(day, eventUUID, holder) : erase.run(day, eventUUID, holder, server);
      if (changes === 0) return;
      insertErased.run(day, hashOf(sent, server));
      hasErased = true;
    },
    /** What came of a request that was sent before. */
    findRequest: (day: number, { requestUUID, token, user }: SentRequest): RequestRow | undefined =>
      selectRequest.get(...recentDays(day), requestUUID, token, user),
    rememberRequest: (
      day: number,
      { requestUUID, token, user }: SentRequest,
      { contact, claim, existed }: { contact: number; claim: number | null; existed: boolean },
    ) => {
      insertRequest.run(day, requestUUID, token, user, contact, claim, Number(existed));
    },
    /** Lets go of up to `most` of what is older than the days that are asked; answers whether there may be more. */
    forgetOld: (day: number, most: number): boolean => {
      hasOfEither = undefined;
      return forgetBefore.some((statement) => statement.run(recentDays(day).at(-1) as number, most).changes > 0);
    },
  };
};
export type Repeats = ReturnType<typeof createRepeats>;
