/**
 * What was sent before: an eventUUID or requestUUID is known for 7 days from the first, and kept until something has been
 * sent on 8 later ones. Counted are the days that were, not those of the calendar: a clock that jumps years ahead makes
 * one day, and nothing old.
 */
import { daysKept } from '../received-day.ts';
import { createSentKeys, toBytes } from '../sent-keys.ts';
import { type ActiveDays, isActive } from './active-days.ts';
import type { Connection } from './connection.ts';
import type { Holder, RecentRepeats } from './recent-repeats.ts';

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

/** A day that never is, where there are fewer. */
const noDay = -1;

export const createRepeats = (db: Connection, latest: RecentRepeats) => {
  const daysOf = (count: number) => Array.from({ length: count }, () => '?').join(', ');
  const days = daysOf(daysKept);
  /** Of so many days: each is a look into another place. */
  const selects = Array.from({ length: daysKept + 1 }, (_, count) =>
    db
      .prepare<unknown[], number>(
        `SELECT 1 FROM event_repeat WHERE day IN (${daysOf(count)}) AND eventUUID = ? AND holder = ?`,
      )
      .pluck(),
  );
  const selectErased = db
    .prepare<unknown[], number>(`SELECT 1 FROM erased_repeat WHERE day IN (${days}) AND hash = ?`)
    .pluck();
  const firstErased = db.prepare<[], number>('SELECT 1 FROM erased_repeat LIMIT 1').pluck();
  const insertErased = db.prepare('INSERT OR IGNORE INTO erased_repeat (day, hash) VALUES (?, ?)');
  const erase = db.prepare('DELETE FROM event_repeat WHERE day = ? AND eventUUID = ? AND holder = ?');
  const selectRequest = db.prepare<unknown[], RequestRow>(
    `SELECT contact, claim, existed FROM request_repeat WHERE day IN (${days}) AND requestUUID = ? AND token = ? AND user = ?`,
  );
  const insertRequest = db.prepare('INSERT INTO request_repeat VALUES (?, ?, ?, ?, ?, ?, ?)');
  const eraseRequests = db.prepare('DELETE FROM request_repeat WHERE contact = ?');
  const forgetBefore = [
    ['event_repeat', 'day, eventUUID, holder'],
    ['erased_repeat', 'day, hash'],
    ['request_repeat', 'day, requestUUID, token, user'],
  ].map(([table, key]) =>
    db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE day < ? LIMIT ?)`),
  );
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;

  const tables = ['event_repeat', 'erased_repeat', 'request_repeat'];
  const dayBefore = db
    .prepare<number[], number | null>(
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
      found.push(before === noDay ? noDay : (dayBefore.get(before, before, before) ?? noDay));
    }
    recent = found;
    return recent;
  };
  const { eventKey } = createSentKeys(secret);
  const eventHash = (eventUUID: string, holder: Holder) => toBytes(eventKey(holder, eventUUID));
  /** Whether anything may have been erased, as far as it has been asked. */
  let hasErased: boolean | undefined;
  const anyErased = (): boolean => {
    hasErased ??= firstErased.get() !== undefined;
    return hasErased;
  };

  const isRepeat = (day: number, eventUUID: string, holder: Holder, active: ActiveDays): boolean => {
    const recent = recentDays(day);
    if (latest.has(eventUUID, holder)) return true;
    // Only on days on which the holder had events is there anything to look for.
    if (active.lastDay === null) return false;
    const asked = recent.filter((each) => isActive(active, each));
    const isKnown = asked.length > 0 && selects[asked.length]?.get(...asked, eventUUID, holder) !== undefined;
    return isKnown || (anyErased() && selectErased.get(...recent, eventHash(eventUUID, holder)) !== undefined);
  };

  const doubt = () => {
    recent = [noDay];
    hasErased = undefined;
  };

  return {
    forget: doubt,
    undo: doubt,
    /** Whether an event of a holder was sent before. */
    isRepeat,
    /** Remembers an event; answers false, and does nothing, when it was sent before. */
    remember: (day: number, eventUUID: string, holder: Holder, active: ActiveDays): boolean => {
      if (isRepeat(day, eventUUID, holder, active)) return false;
      latest.add({ day, eventUUID, holder });
      return true;
    },
    /** From here on only a hash tells that this eventUUID was sent. */
    erase: (day: number, eventUUID: string, holder: Holder) => {
      latest.settle();
      if (erase.run(day, eventUUID, holder).changes === 0) return;
      insertErased.run(day, eventHash(eventUUID, holder));
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
    /** From here on only what is erased of the contact tells that it was created by these requests: erasures.ts. */
    eraseRequests: (contact: number) => {
      eraseRequests.run(contact);
    },
    /** Lets go of up to `most` of what is older than the days that are asked; answers whether there may be more. */
    forgetOld: (day: number, most: number): boolean =>
      forgetBefore.some((statement) => statement.run(recentDays(day).at(-1) as number, most).changes > 0),
  };
};
export type Repeats = ReturnType<typeof createRepeats>;
