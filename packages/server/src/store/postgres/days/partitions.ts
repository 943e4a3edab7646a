/**
 * The partitions that the rows of a day go to: that of its month, for events, and one for its repeats. They are made a day ahead, because
 * on a cluster that needs every machine, and no event should wait for a machine that is away.
 */
import { repeat } from '../../../shared/repeat.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { daysKept } from '../../rules/received-day.ts';
import type { OnFault } from '../../store.ts';
import {
  type Connection,
  inParallelLocally,
  lockKeys,
  servedMilliseconds,
  setLocally,
  type TakenConnection,
} from '../database/connection.ts';

const toDay = (time: number): number => Math.floor(time / dayMilliseconds);

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
 * Returns SQL that creates the partition of a day's repeats, if it is missing. Its own primary key omits the day, which all its rows share,
 * and the account, which only Citus wants in it.
 */
export const repeatsSQL = (day: number): string =>
  // One statement, because Citus sends the text of an ALTER TABLE to the workers with all that is beside it.
  `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE relname = 'event_repeat_${day}' AND relnamespace = current_schema()::regnamespace) THEN
      CREATE TABLE event_repeat_${day} (LIKE event_repeat);
      IF to_regclass('pg_dist_partition') IS NULL THEN ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key);
      ELSE ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key, account);
      END IF;
      ALTER TABLE event_repeat ATTACH PARTITION event_repeat_${day} FOR VALUES IN (${day});
    END IF;
  END $$`;

const makePartitions = async (db: TakenConnection, day: number): Promise<void> => {
  await db.script(monthSQL(day));
  await db.script(repeatsSQL(day));
};

/**
 * Inserts the day into `kept_day` and creates its missing partitions. Does nothing if another server has. Those who write go on meanwhile.
 * Returns how many days are in `kept_day`.
 */
export const prepareDay = async (db: TakenConnection, day: number): Promise<number> => {
  await db.script(
    `BEGIN; SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}); SELECT pg_advisory_xact_lock(${lockKeys.days})`,
  );
  const insertDay = 'INSERT INTO kept_day (day, keyed, "ofEither") VALUES ($1, true, false) ON CONFLICT DO NOTHING';
  if ((await db.run(insertDay, [day])) > 0) await makePartitions(db, day);
  const { count } = await db.one<{ count: number }>('SELECT count(*) AS count FROM kept_day');
  await db.commit();
  return count;
};

/** A server that begins a day when there are more than this many forgets old ones at once: a wrong clock can begin many days within an hour. */
export const maxDays = 3 * daysKept;

/**
 * Runs a step in a transaction that holds the locks of prepareDay. It gives up soon, because others may wait for it: for the locks when
 * another server has them, and within seconds when a machine of a cluster hangs.
 */
const inShort = async (
  db: TakenConnection,
  step: () => Promise<unknown>,
  settings: readonly string[] = [],
): Promise<void> => {
  await setLocally(db, ['BEGIN', 'SET LOCAL lock_timeout = 1000', 'SET LOCAL statement_timeout = 4000', ...settings]);
  const { isMine } = await db.one<{ isMine: boolean }>(
    `SELECT pg_try_advisory_xact_lock_shared(${lockKeys.structure}) AND pg_try_advisory_xact_lock(${lockKeys.days}) AS "isMine"`,
  );
  if (isMine) await step();
  await db.commit();
};

/** Returns the days that are begun, the newest first, and all that have a partition of repeats. */
const readDays = async (db: Connection) => {
  const [begun, tables] = await Promise.all([
    db.all<{ day: number }>('SELECT day FROM kept_day ORDER BY day DESC'),
    db.all<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'event_repeat'::regclass`,
    ),
  ]);
  return {
    begun: begun.map(({ day }) => day),
    made: tables.flatMap(({ name }) => /^event_repeat_(\d+)$/.exec(name)?.[1] ?? []).map(Number),
  };
};

/** Creates the partitions of today and tomorrow, and of the days after those that a clock that was ahead has begun. */
const prepareNextDays = async (db: TakenConnection, today: number): Promise<void> => {
  const { begun, made } = await readDays(db);
  const [newest] = begun;
  // Nothing was stored for so long that the next event may wait for its partitions.
  if (newest === undefined || newest < today - daysKept) return;
  const next = [today, today + 1, ...begun.filter((day) => day > today).map((day) => day + 1)];
  for (const day of new Set(next)) if (!made.includes(day)) await inShort(db, () => makePartitions(db, day));
};

/**
 * Deletes what is known of repeats of days that are no longer searched, and partitions of earlier days that were not begun. Accounts may be
 * on different days after a clock was wrong, so the last days are kept before each of these: today, the newest day, and the day of each
 * account that is ahead of today. `now`: milliseconds since 1970.
 */
export const forgetDays = async (db: TakenConnection, now: number): Promise<void> => {
  const today = toDay(now);
  const inParallel = db.isSpread ? inParallelLocally : [];
  const { begun, made } = await readDays(db);
  const unused = made.filter((day) => day < today && !begun.includes(day));
  for (const day of unused) {
    const drop = async () => {
      // Another server's clock may have begun it meanwhile.
      if ((await db.get('SELECT 1 FROM kept_day WHERE day = $1', [day])) !== undefined) return;
      await db.script(`DROP TABLE IF EXISTS event_repeat_${day}`);
    };
    await inShort(db, drop, inParallel);
  }
  if (begun.length <= daysKept) return;
  const ahead = await db.all<{ day: number }>('SELECT DISTINCT day FROM account_position WHERE day > $1', [today]);
  const lastDays = [today, begun[0] as number, ...ahead.map(({ day }) => day)];
  const kept = new Set(lastDays.flatMap((last) => begun.filter((day) => day <= last).slice(0, daysKept)));
  for (const day of begun.filter((each) => !kept.has(each)).reverse()) {
    // First and by itself: it may take long, and on a cluster it asks every machine, before the tables are locked for all others.
    await setLocally(db, ['BEGIN', ...inParallel]);
    await db.script(`SELECT pg_advisory_xact_lock_shared(${lockKeys.structure})`);
    for (const table of ['erased_repeat', 'request_repeat']) await db.run(`DELETE FROM ${table} WHERE day = $1`, [day]);
    await db.commit();
    const forget = async () => {
      await db.run('DELETE FROM kept_day WHERE day = $1', [day]);
      await db.script(`DROP TABLE IF EXISTS event_repeat_${day}`);
    };
    await inShort(db, forget, inParallel);
  }
};

/** Prepares the next days and forgets old ones. What another server does meanwhile is left to it. `now`: milliseconds since 1970. */
export const tendDays = async (db: TakenConnection, now: number): Promise<void> => {
  await prepareNextDays(db, toDay(now));
  await forgetDays(db, now);
};

/** In milliseconds. The first spares a process that ends soon. */
const usualPauses = { first: 300_000, usual: 3_600_000, failed: 60_000 };

/** Part of what is logged, which the operator searches for. */
export const notMade = 'partitions were not made';

/**
 * Calls `tend` after the first pause, and again and again; calls `onFault` when it fails for the first time since it succeeded. Returns a
 * function that ends this, and resolves when the current call has ended.
 */
export const keepTending = (
  tend: () => Promise<void>,
  onFault: OnFault | undefined,
  pauses = usualPauses,
): (() => Promise<void>) => {
  let isFirst = true;
  let isFailing = false;
  return repeat(async () => {
    if (isFirst) {
      isFirst = false;
      return pauses.first;
    }
    try {
      await tend();
      isFailing = false;
      return pauses.usual;
    } catch (error) {
      if (!isFailing) onFault?.(error, `the next ${notMade}, or old ones were not dropped: tried again every minute`);
      isFailing = true;
      return pauses.failed;
    }
  });
};

/** Within this time, in milliseconds, a server has tended the days at least once, even if it has left one call to another server. */
const longestWithoutTending = usualPauses.first + 2 * usualPauses.usual;

/**
 * Returns the day after `now`, whether its partitions are there, and whether they should be: a server has run for `patience`, the day began
 * as long ago, and earlier days were begun, as prepareNextDays wants. `now` and `patience` are in milliseconds.
 */
export const examineNextDay = async (
  db: Connection,
  now: number,
  patience = longestWithoutTending,
): Promise<{ day: number; isMade: boolean; isDue: boolean }> => {
  const today = toDay(now);
  const { begun, made } = await readDays(db);
  const isDue =
    now - today * dayMilliseconds >= patience &&
    begun.some((day) => day < today && day >= today - daysKept) &&
    (await servedMilliseconds(db)) >= patience;
  return { day: today + 1, isMade: made.includes(today + 1), isDue };
};
