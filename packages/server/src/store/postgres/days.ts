/** Days: the one that is under way, the partitions that belong to it, and those on which an account has events. */
import { type DayUnderWay, dayAt, daysKept } from '../received-day.ts';
import type { Connection } from './connection.ts';
import type { Transaction } from './transaction.ts';

const dayMilliseconds = 86_400_000;

/** The month of a day, as part of a table's name, and the days at which it begins and ends. */
const monthOf = (day: number) => {
  const date = new Date(day * dayMilliseconds);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const dayOf = (time: number) => Math.floor(time / dayMilliseconds);
  return {
    name: `${year}_${String(month + 1).padStart(2, '0')}`,
    from: dayOf(Date.UTC(year, month, 1)),
    to: dayOf(Date.UTC(year, month + 1, 1)),
  };
};

/** SQL that makes the partition of a day's month, where there is none. */
export const monthSQL = (day: number): string => {
  const { name, from, to } = monthOf(day);
  // Attached, not made as a part: that would wait for all who read events, and let nobody else read meanwhile.
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE relname = 'event_${name}' AND relnamespace = current_schema()::regnamespace) THEN
      CREATE TABLE event_${name} (LIKE event INCLUDING STORAGE);
      ALTER TABLE event ATTACH PARTITION event_${name} FOR VALUES FROM (${from}) TO (${to});
    END IF;
  END $$`;
};

/** SQL that makes the partition of a day's repeats: a key of its own needs no day, which all in it have. */
export const repeatsSQL = (day: number): string =>
  `CREATE TABLE event_repeat_${day} PARTITION OF event_repeat (PRIMARY KEY (holder, key)) FOR VALUES IN (${day})`;

/** The days of a month in which a day lies: from <= day < to. */
export const monthBounds = (day: number): { from: number; to: number } => monthOf(day);

/**
 * Makes the day of something received at a time the one under way. Nobody else writes meanwhile: so what is kept on a day
 * is committed before anything is kept on the next, and a repeat that comes with midnight is seen.
 */
export const beginDay = async (db: Transaction, receivedTime: number): Promise<void> => {
  const { day, clockDay }: DayUnderWay = dayAt(db.position, receivedTime);
  await db.run('UPDATE position SET day = $1, "clockDay" = $2', [day, clockDay]);
  if (
    (await db.run('INSERT INTO kept_day (day, keyed, "ofEither") VALUES ($1, true, false) ON CONFLICT DO NOTHING', [
      day,
    ])) === 0
  )
    return;
  await db.script(monthSQL(day));
  await db.script(repeatsSQL(day));
  const old = await db.all<{ day: number }>('SELECT day FROM kept_day ORDER BY day DESC OFFSET $1', [daysKept]);
  for (const { day } of old) {
    await db.script(`DROP TABLE event_repeat_${day}; DELETE FROM kept_day WHERE day = ${day}`);
    await db.run('DELETE FROM request_repeat WHERE day <= $1', [day]);
  }
};

export interface DaySpan {
  readonly day: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export interface DayRange {
  readonly account: number;
  /** Only days that may hold events with from <= eventTime < to, and after < sequence <= through. */
  readonly from: number;
  readonly to: number;
  readonly after: number;
  readonly through: number;
}

/** Ascending. */
export const daysOf = (db: Connection, { account, from, to, after, through }: DayRange): Promise<DaySpan[]> =>
  db.all<DaySpan>(
    `SELECT day, min("firstSequence") AS "firstSequence", max("lastSequence") AS "lastSequence"
     FROM account_day WHERE account = $1 GROUP BY day
     HAVING max("lastTime") >= $2 AND min("firstTime") < $3 AND max("lastSequence") > $4 AND min("firstSequence") <= $5
     ORDER BY day`,
    [account, from, to, after, through],
  );
