/** Days: begins the current day with its partitions, and lists the days on which an account has events. */
import type { DayRange, DaySpan } from '../../rules/event-pages.ts';
import { type DayUnderWay, dayAt, dayMilliseconds, daysKept } from '../../rules/received-day.ts';
import { type AccountConnection, lockKeys, type TakenConnection } from '../database/connection.ts';

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

/**
 * Returns SQL that creates the partition of a day's repeats. Its own primary key omits the day, which all its rows share, and the account,
 * which only Citus wants in it.
 */
export const repeatsSQL = (day: number): string =>
  // One statement, because Citus sends the text of an ALTER TABLE to the workers with all that is beside it.
  `DO $$ BEGIN
    CREATE TABLE event_repeat_${day} (LIKE event_repeat);
    IF to_regclass('pg_dist_partition') IS NULL THEN ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key);
    ELSE ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key, account);
    END IF;
    ALTER TABLE event_repeat ATTACH PARTITION event_repeat_${day} FOR VALUES IN (${day});
  END $$`;

/** A day has no partitions yet: `prepareDay` makes them. */
export class DayMissing extends Error {
  readonly day: number;

  constructor(day: number) {
    super('a day has no partitions');
    this.day = day;
  }
}

/**
 * Makes the day of something received at a time the account's current day. No other transaction writes rows of the account meanwhile,
 * so everything stored under a day is committed before anything is stored under the next, and a repeat around midnight is recognized.
 * Throws DayMissing.
 */
export const beginDay = async (
  db: AccountConnection & { readonly currentDay: DayUnderWay },
  receivedTime: number,
): Promise<void> => {
  const { day, clockDay } = dayAt(db.currentDay, receivedTime);
  if ((await db.get('SELECT 1 FROM kept_day WHERE day = $1', [day])) === undefined) throw new DayMissing(day);
  const sql = 'UPDATE account_position SET day = $2, "clockDay" = $3 WHERE account = $1';
  if ((await db.run(sql, [db.account, day, clockDay])) === 0) throw new Error('the account is gone');
};

const hold = `SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}); SELECT pg_advisory_xact_lock(${lockKeys.days})`;

/** Forgets the repeats of days that are no longer searched. Waits a second for those who use them; the next day tries again. */
const forgetDays = async (db: TakenConnection, today: number): Promise<void> => {
  await db.script(`BEGIN; SET LOCAL lock_timeout = 1000; ${hold}`);
  const kept = await db.all<{ day: number }>('SELECT day FROM kept_day ORDER BY day DESC OFFSET $1', [daysKept]);
  for (const { day } of kept) {
    if (day >= today) continue;
    await db.script(`DROP TABLE event_repeat_${day}`);
    for (const table of ['kept_day', 'erased_repeat', 'request_repeat']) {
      await db.run(`DELETE FROM ${table} WHERE day <= $1`, [day]);
    }
  }
  await db.commit();
};

/** Makes the partitions of a day, unless another server has. Those who write go on meanwhile. */
export const prepareDay = async (db: TakenConnection, day: number): Promise<void> => {
  await db.script(`BEGIN; ${hold}`);
  const insertDay = 'INSERT INTO kept_day (day, keyed, "ofEither") VALUES ($1, true, false) ON CONFLICT DO NOTHING';
  if ((await db.run(insertDay, [day])) > 0) {
    await db.script(monthSQL(day));
    await db.script(repeatsSQL(day));
  }
  await db.commit();
  await forgetDays(db, day).catch(() => db.script('ROLLBACK'));
};

/** Returns the days on which an account has events, ascending. */
export const daysOf = (db: AccountConnection, { account, from, to, after, through }: DayRange): Promise<DaySpan[]> =>
  db.all<DaySpan>(
    `SELECT day, min("firstSequence") AS "firstSequence", max("lastSequence") AS "lastSequence"
     FROM account_day WHERE account = $1 GROUP BY day
     HAVING max("lastTime") >= $2 AND min("firstTime") < $3 AND max("lastSequence") > $4 AND min("firstSequence") <= $5
     ORDER BY day`,
    [account, from, to, after, through],
  );
