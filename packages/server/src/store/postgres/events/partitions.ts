/**
 * The partitions that the rows of a day go to: that of its month, for events, and one for its repeats. They are made a day ahead, because
 * on a cluster that takes every machine: while one is away, the others go on, over midnight too.
 */
import { repeat } from '../../../repeat.ts';
import { dayMilliseconds, daysKept } from '../../rules/received-day.ts';
import { type Connection, hasTable, lockKeys, setLocally, type TakenConnection } from '../database/connection.ts';

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
 * Returns SQL that creates the partition of a day's repeats, if it is missing. Its own primary key omits the day, which all its rows share, and the account,
 * which only Citus wants in it.
 */
export const repeatsSQL = (day: number): string =>
  // One statement, because Citus sends the text of an ALTER TABLE to the workers with all that is beside it.
  `DO $$ BEGIN
    IF to_regclass('event_repeat_${day}') IS NULL THEN
      CREATE TABLE event_repeat_${day} (LIKE event_repeat);
      IF to_regclass('pg_dist_partition') IS NULL THEN ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key);
      ELSE ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key, account);
      END IF;
      ALTER TABLE event_repeat ATTACH PARTITION event_repeat_${day} FOR VALUES IN (${day});
    END IF;
  END $$`;

/** In milliseconds. The first pause spares a process that ends soon; the last is that after a failure. */
const pauses = { first: 300_000, usual: 3_600_000, failed: 60_000 };

const hold = `SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}); SELECT pg_advisory_xact_lock(${lockKeys.days})`;

/** The numbers of the days that have a partition of repeats, though nothing was stored under them. */
const readUnused = async (db: Connection): Promise<number[]> =>
  (
    await db.all<{ day: number }>(
      `SELECT day FROM (
         SELECT substr(relname, length('event_repeat_') + 1)::integer AS day
         FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'event_repeat'::regclass
       ) AS made WHERE day NOT IN (SELECT day FROM kept_day)`,
    )
  ).map(({ day }) => day);

/**
 * Forgets the repeats of days that are no longer searched. Waits a second for those who use them, and seconds for the machines of a
 * cluster, because all others wait meanwhile; the next day tries again.
 */
const forgetDays = async (db: TakenConnection, today: number): Promise<void> => {
  await setLocally(db, ['BEGIN', 'SET LOCAL lock_timeout = 1000', 'SET LOCAL statement_timeout = 5000']);
  await db.script(hold);
  const kept = await db.all<{ day: number }>('SELECT day FROM kept_day ORDER BY day DESC OFFSET $1', [daysKept]);
  for (const { day } of kept) {
    if (day >= today) continue;
    await db.script(`DROP TABLE event_repeat_${day}`);
    for (const table of ['kept_day', 'erased_repeat', 'request_repeat']) {
      await db.run(`DELETE FROM ${table} WHERE day <= $1`, [day]);
    }
  }
  for (const day of await readUnused(db)) if (day < today) await db.script(`DROP TABLE event_repeat_${day}`);
  await db.commit();
};

/** Makes the partitions of a day that are missing, in a transaction with both locks. Those who write go on meanwhile. */
const makePartitions = async (db: TakenConnection, day: number): Promise<void> => {
  await db.script(monthSQL(day));
  await db.script(repeatsSQL(day));
};

/** Lets accounts begin a day, unless another server has. */
export const prepareDay = async (db: TakenConnection, day: number): Promise<void> => {
  await db.script(`BEGIN; ${hold}`);
  const insertDay = 'INSERT INTO kept_day (day, keyed, "ofEither") VALUES ($1, true, false) ON CONFLICT DO NOTHING';
  if ((await db.run(insertDay, [day])) > 0) await makePartitions(db, day);
  await db.commit();
  await forgetDays(db, day).catch(() => db.script('ROLLBACK'));
};

/** Makes the partitions of the day after `now`, and of the day after the newest, which a wrong clock may have begun. */
export const prepareNextDay = async (db: TakenConnection, now: number): Promise<void> => {
  const { newest } = await db.one<{ newest: number | null }>('SELECT max(day) AS newest FROM kept_day');
  for (const day of new Set([Math.floor(now / dayMilliseconds), newest ?? 0].map((each) => each + 1))) {
    if (await hasTable(db, `event_repeat_${day}`)) continue;
    await db.script(`BEGIN; ${hold}`);
    await makePartitions(db, day);
    await db.commit();
  }
};

/** Keeps the next day prepared, from some minutes on. Returns a function that ends this, and resolves when the current try has ended. */
export const keepNextDayPrepared = (prepare: () => Promise<void>): (() => Promise<void>) => {
  let isFirst = true;
  return repeat(async () => {
    if (!isFirst)
      return prepare().then(
        () => pauses.usual,
        () => pauses.failed,
      );
    isFirst = false;
    return pauses.first;
  });
};
