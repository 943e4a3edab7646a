/** Days: begins the current day with its partitions, and lists the days on which an account has events. */
import type { DayRange, DaySpan } from '../../rules/event-pages.ts';
import { type DayUnderWay, dayAt, dayMilliseconds, daysKept } from '../../rules/received-day.ts';
import type { Connection, ScriptedConnection } from '../database/connection.ts';

/** Returns the month of a day: its part of a table's name, its first day, and the first day of the next month. */
export const monthOf = (day: number) => {
  const date = new Date(day * dayMilliseconds);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: `${year}_${String(month + 1).padStart(2, '0')}`,
    from: Date.UTC(year, month, 1) / dayMilliseconds,
    to: Date.UTC(year, month + 1, 1) / dayMilliseconds,
  };
};

/** Returns SQL that creates the partition of a day's month, if it is missing. */
export const monthSQL = (day: number): string => {
  const { name, from, to } = monthOf(day);
  // CREATE TABLE ... PARTITION OF would wait for all reads of events and block new ones. ATTACH PARTITION does not.
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE relname = 'event_${name}' AND relnamespace = current_schema()::regnamespace) THEN
      CREATE TABLE event_${name} (LIKE event INCLUDING STORAGE);
      ALTER TABLE event ATTACH PARTITION event_${name} FOR VALUES FROM (${from}) TO (${to});
    END IF;
  END $$`;
};

/** Returns SQL that creates the partition of a day's repeats. Its own primary key omits the day, which all its rows share. */
export const repeatsSQL = (day: number): string =>
  `CREATE TABLE event_repeat_${day} PARTITION OF event_repeat (PRIMARY KEY (holder, key)) FOR VALUES IN (${day})`;

/**
 * Makes the day of something received at a time the current day. No other transaction writes meanwhile, so everything stored
 * under a day is committed before anything is stored under the next, and a repeat around midnight is recognized.
 */
export const beginDay = async (
  db: ScriptedConnection & { readonly currentDay: DayUnderWay },
  receivedTime: number,
): Promise<void> => {
  const { day, clockDay } = dayAt(db.currentDay, receivedTime);
  await db.run('UPDATE position SET day = $1, "clockDay" = $2', [day, clockDay]);
  const insertDay = 'INSERT INTO kept_day (day, keyed, "ofEither") VALUES ($1, true, false) ON CONFLICT DO NOTHING';
  if ((await db.run(insertDay, [day])) === 0) return;
  await db.script(monthSQL(day));
  await db.script(repeatsSQL(day));
  const old = await db.all<{ day: number }>('SELECT day FROM kept_day ORDER BY day DESC OFFSET $1', [daysKept]);
  for (const { day } of old) {
    await db.script(`
      DROP TABLE event_repeat_${day};
      DELETE FROM kept_day WHERE day = ${day};
      DELETE FROM request_repeat WHERE day <= ${day}`);
  }
};

/** Returns the days on which an account has events, ascending. */
export const daysOf = (db: Connection, { account, from, to, after, through }: DayRange): Promise<DaySpan[]> =>
  db.all<DaySpan>(
    `SELECT day, min("firstSequence") AS "firstSequence", max("lastSequence") AS "lastSequence"
     FROM account_day WHERE account = $1 GROUP BY day
     HAVING max("lastTime") >= $2 AND min("firstTime") < $3 AND max("lastSequence") > $4 AND min("firstSequence") <= $5
     ORDER BY day`,
    [account, from, to, after, through],
  );
