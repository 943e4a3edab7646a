/**
 * Partitions: one of events for each month, and one of repeats for each day. They are created a day ahead, because on a
 * cluster, creating them needs every machine, and no event should wait for a machine that is down.
 */
import { repeat } from '../../../shared/repeat.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { dedupDays } from '../../rules/received-day.ts';
import type { OnFault } from '../../store.ts';
import {
  type Connection,
  type HeldConnection,
  lockKeys,
  oldestClientMilliseconds,
  parallelShardSettings,
  setLocally,
} from '../database/connection.ts';

const toDay = (time: number): number => Math.floor(time / dayMilliseconds);

/** Returns a day's month: its part of the table name, its first day, and the first day of the next month. */
export const monthOf = (day: number) => {
  const date = new Date(day * dayMilliseconds);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: `${year}_${String(month + 1).padStart(2, '0')}`,
    from: Date.UTC(year, month, 1) / dayMilliseconds,
    to: Date.UTC(year, month + 1, 1) / dayMilliseconds,
  };
};

/** Returns SQL that creates the partition for a day's month if it is missing. */
export const monthSQL = (day: number): string => {
  const { name, from, to } = monthOf(day);
  // Uses ATTACH PARTITION, because CREATE TABLE ... PARTITION OF would wait for all reads of events and block new
  // reads.
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE relname = 'event_${name}' AND relnamespace = current_schema()::regnamespace) THEN
      CREATE TABLE event_${name} (LIKE event INCLUDING STORAGE);
      ALTER TABLE event ATTACH PARTITION event_${name} FOR VALUES FROM (${from}) TO (${to});
    END IF;
  END $$`;
};

/**
 * Returns SQL that creates the partition for a day's repeats if it is missing. Its primary key omits the day, which all
 * its rows share, and the account, which only Citus requires.
 */
export const repeatsSQL = (day: number): string =>
  // Uses a single statement, because Citus sends the text of the whole message with an ALTER TABLE to the workers.
  `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE relname = 'event_repeat_${day}' AND relnamespace = current_schema()::regnamespace) THEN
      CREATE TABLE event_repeat_${day} (LIKE event_repeat);
      IF to_regclass('pg_dist_partition') IS NULL THEN ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key);
      ELSE ALTER TABLE event_repeat_${day} ADD PRIMARY KEY (holder, key, account);
      END IF;
      ALTER TABLE event_repeat ATTACH PARTITION event_repeat_${day} FOR VALUES IN (${day});
    END IF;
  END $$`;

const createPartitions = async (db: HeldConnection, day: number): Promise<void> => {
  await db.script(monthSQL(day));
  await db.script(repeatsSQL(day));
};

/**
 * Adds the day to `kept_day` and creates its partitions, unless another server has done so. Does not block writes.
 * Returns the number of prepared days.
 */
export const prepareDay = async (db: HeldConnection, day: number): Promise<number> => {
  await db.script(
    `BEGIN; SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}); SELECT pg_advisory_xact_lock(${lockKeys.days})`,
  );
  const insertDay = 'INSERT INTO kept_day (day, keyed, "ofEither") VALUES ($1, true, false) ON CONFLICT DO NOTHING';
  if ((await db.run(insertDay, [day])) > 0) await createPartitions(db, day);
  const { count } = await db.one<{ count: number }>('SELECT count(*) AS count FROM kept_day');
  await db.commit();
  return count;
};

/**
 * Above this number of days, starting a new day drops old days immediately, because a wrong clock can start many days
 * within an hour.
 */
export const maxDays = 3 * dedupDays;

/**
 * Runs a step in a transaction that holds prepareDay's locks. Does nothing if another server holds them. Times out
 * within seconds if a machine in a cluster hangs, because other servers may wait for the locks.
 */
const runWithDayLock = async (
  db: HeldConnection,
  step: () => Promise<unknown>,
  settings: readonly string[] = [],
): Promise<void> => {
  await setLocally(db, ['BEGIN', 'SET LOCAL lock_timeout = 1000', 'SET LOCAL statement_timeout = 4000', ...settings]);
  const { isLocked } = await db.one<{ isLocked: boolean }>(
    `SELECT pg_try_advisory_xact_lock_shared(${lockKeys.structure}) AND pg_try_advisory_xact_lock(${lockKeys.days}) AS "isLocked"`,
  );
  if (isLocked) await step();
  await db.commit();
};

/** Returns the days in `kept_day`, newest first, and those with a repeat partition. */
const readDays = async (db: Connection) => {
  const [started, tables] = await Promise.all([
    db.all<{ day: number }>('SELECT day FROM kept_day ORDER BY day DESC'),
    db.all<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'event_repeat'::regclass`,
    ),
  ]);
  return {
    started: started.map(({ day }) => day),
    partitioned: tables.flatMap(({ name }) => /^event_repeat_(\d+)$/.exec(name)?.[1] ?? []).map(Number),
  };
};

/** Creates the partitions for today and tomorrow, and for the day after each day that a fast clock has started. */
const prepareNextDays = async (db: HeldConnection, today: number): Promise<void> => {
  const { started, partitioned } = await readDays(db);
  const [newest] = started;
  // Creates nothing if nothing was stored for a long time: the next event can wait until its partitions are created.
  if (newest === undefined || newest < today - dedupDays) return;
  const next = [today, today + 1, ...started.filter((day) => day > today).map((day) => day + 1)];
  for (const day of new Set(next))
    if (!partitioned.includes(day)) await runWithDayLock(db, () => createPartitions(db, day));
};

/**
 * Drops the repeats from days that are no longer searched, and the partitions for past days that never started. Keeps
 * the last days before today, before the newest day, and before the day of each account that a fast clock has moved
 * ahead of today.
 */
export const dropOldDays = async (db: HeldConnection, now: number): Promise<void> => {
  const today = toDay(now);
  const inParallel = db.isDistributed ? parallelShardSettings : [];
  const { started, partitioned } = await readDays(db);
  const unused = partitioned.filter((day) => day < today && !started.includes(day));
  for (const day of unused) {
    const drop = async () => {
      // Does not drop the day if another server's clock has started it in the meantime.
      if ((await db.get('SELECT 1 FROM kept_day WHERE day = $1', [day])) !== undefined) return;
      await db.script(`DROP TABLE IF EXISTS event_repeat_${day}`);
    };
    await runWithDayLock(db, drop, inParallel);
  }
  if (started.length <= dedupDays) return;
  const ahead = await db.all<{ day: number }>('SELECT DISTINCT day FROM account_position WHERE day > $1', [today]);
  const lastDays = [today, started[0] as number, ...ahead.map(({ day }) => day)];
  const kept = new Set(lastDays.flatMap((last) => started.filter((day) => day <= last).slice(0, dedupDays)));
  for (const day of started.filter((each) => !kept.has(each)).reverse()) {
    // Deletes in a separate transaction, before the tables are locked, because deleting can take a long time and needs
    // every machine in a cluster.
    await setLocally(db, ['BEGIN', ...inParallel]);
    await db.script(`SELECT pg_advisory_xact_lock_shared(${lockKeys.structure})`);
    for (const table of ['erased_repeat', 'request_repeat']) await db.run(`DELETE FROM ${table} WHERE day = $1`, [day]);
    await db.commit();
    const dropDay = async () => {
      await db.run('DELETE FROM kept_day WHERE day = $1', [day]);
      await db.script(`DROP TABLE IF EXISTS event_repeat_${day}`);
    };
    await runWithDayLock(db, dropDay, inParallel);
  }
};

/** Prepares the next days and drops old days. Skips a step that another server is running. */
export const maintainPartitions = async (db: HeldConnection, now: number): Promise<void> => {
  await prepareNextDays(db, toDay(now));
  await dropOldDays(db, now);
};

/** Pauses in milliseconds. Because of the first pause, short-lived processes skip this work. */
const defaultPauses = { first: 300_000, usual: 3_600_000, failed: 60_000 };

/** Part of the log message, which operators search for. */
export const failureText = 'partitions could not be created';

/**
 * Calls `maintain` periodically, after a first pause; calls `onFault` for the first failure after a success. Returns a
 * function that stops the calls and waits for the current call.
 */
export const startPartitionJob = (
  maintain: () => Promise<void>,
  onFault: OnFault | undefined,
  pauses = defaultPauses,
): (() => Promise<void>) => {
  let isFirst = true;
  let isFailing = false;
  return repeat(async () => {
    if (isFirst) {
      isFirst = false;
      return pauses.first;
    }
    try {
      await maintain();
      isFailing = false;
      return pauses.usual;
    } catch (error) {
      if (!isFailing) onFault?.(error, `the next ${failureText}, or old ones were not dropped: retrying every minute`);
      isFailing = true;
      return pauses.failed;
    }
  });
};

/**
 * The time, in milliseconds, within which a server runs maintenance at least once, even if it skips a run because
 * another server is doing it.
 */
const maxMaintenanceGap = defaultPauses.first + 2 * defaultPauses.usual;

/**
 * Returns the day after `now`, whether its partitions exist, and whether they are due. These are due if a server has
 * been running for at least `gracePeriod` milliseconds, today began at least that long ago, and a recent day has
 * started (prepareNextDays).
 */
export const examineNextDay = async (
  db: Connection,
  now: number,
  gracePeriod = maxMaintenanceGap,
): Promise<{ day: number; exists: boolean; isDue: boolean }> => {
  const today = toDay(now);
  const { started, partitioned } = await readDays(db);
  const isDue =
    now - today * dayMilliseconds >= gracePeriod &&
    started.some((day) => day < today && day >= today - dedupDays) &&
    (await oldestClientMilliseconds(db)) >= gracePeriod;
  return { day: today + 1, exists: partitioned.includes(today + 1), isDue };
};
