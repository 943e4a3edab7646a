/** What was sent before: an eventUUID or requestUUID is known for 7 days from the first, and kept for 8. */
import { createHmac } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import type { Connection } from './connection.ts';

/** Minus the contact, for an event without a user; else the user. */
export type Holder = number;

export const createRepeats = (db: Connection) => {
  const days = Array.from({ length: limits.repeatDays + 1 }, () => '?').join(', ');
  const select = db
    .prepare<unknown[], number>(`SELECT 1 FROM event_repeat WHERE day IN (${days}) AND eventUUID = ? AND holder = ?`)
    .pluck();
  const insert = db.prepare('INSERT INTO event_repeat (day, eventUUID, holder) VALUES (?, ?, ?)');
  const selectErased = db
    .prepare<unknown[], number>(`SELECT 1 FROM erased_event WHERE day IN (${days}) AND hash = ?`)
    .pluck();
  const anyErased = db.prepare<[], number>('SELECT 1 FROM erased_event LIMIT 1').pluck();
  const insertErased = db.prepare('INSERT OR IGNORE INTO erased_event (day, hash) VALUES (?, ?)');
  const erase = db.prepare('DELETE FROM event_repeat WHERE day = ? AND eventUUID = ? AND holder = ?');
  const selectRequest = db.prepare<unknown[], { contact: number; claim: number | null; existed: number }>(
    `SELECT contact, claim, existed FROM request_repeat WHERE day IN (${days}) AND requestUUID = ? AND user = ?`,
  );
  const insertRequest = db.prepare('INSERT INTO request_repeat VALUES (?, ?, ?, ?, ?, ?)');
  const forget = [
    ['event_repeat', 'day, eventUUID, holder'],
    ['erased_event', 'day, hash'],
    ['request_repeat', 'day, requestUUID, user'],
  ].map(([table, key]) =>
    db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE day < ? LIMIT ?)`),
  );
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;

  const recentDays = (day: number) => Array.from({ length: limits.repeatDays + 1 }, (_, back) => day - back);
  const hash = (eventUUID: string, holder: Holder) =>
    createHmac('sha256', secret).update(`event\n${holder}\n${eventUUID}`).digest().subarray(0, 16);

  return {
    isRepeat: (day: number, eventUUID: string, holder: Holder): boolean => {
      const recent = recentDays(day);
      if (select.get(...recent, eventUUID, holder) !== undefined) return true;
      return anyErased.get() !== undefined && selectErased.get(...recent, hash(eventUUID, holder)) !== undefined;
    },
    remember: (day: number, eventUUID: string, holder: Holder) => {
      insert.run(day, eventUUID, holder);
    },
    /** From here on only a hash tells that this eventUUID was sent. */
    erase: (day: number, eventUUID: string, holder: Holder) => {
      if (erase.run(day, eventUUID, holder).changes > 0) insertErased.run(day, hash(eventUUID, holder));
    },
    findRequest: (day: number, requestUUID: string, user: number) =>
      selectRequest.get(...recentDays(day), requestUUID, user),
    rememberRequest: (
      day: number,
      request: { requestUUID: string; user: number; contact: number; claim: number | null; existed: boolean },
    ) => {
      const { requestUUID, user, contact, claim, existed } = request;
      insertRequest.run(day, requestUUID, user, contact, claim, Number(existed));
    },
    /** Lets go of up to `most` of what is older than the days that are asked; answers whether there may be more. */
    forgetOld: (day: number, most: number): boolean =>
      forget.some((statement) => statement.run(day - limits.repeatDays, most).changes > 0),
  };
};
export type Repeats = ReturnType<typeof createRepeats>;
