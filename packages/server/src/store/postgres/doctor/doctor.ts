/** Examines a PostgreSQL database for `firsthand doctor`. */

import { formatCount } from '../../../shared/format-count.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import {
  checkClock,
  checkProxy,
  checkQuotas,
  checkRefused,
  type ExamineOptions,
  type Finding,
} from '../../doctor-findings.ts';
import { findUnknownProxy } from '../../operations/unknown-proxy.ts';
import { measureAccounts } from '../accounts/accounts.ts';
import { type Connection, type HeldConnection, runOnConnection } from '../database/connection.ts';
import { getNewestMigration, readSchema } from '../database/migrate.ts';
import { examineNextDay, failureText } from '../days/partitions.ts';
import { runOperation } from '../transactions/operations.ts';
import { examineCluster } from './cluster-findings.ts';

const examineRows = async (db: HeldConnection, options: ExamineOptions): Promise<Finding[]> => {
  const counts = await db.one<Record<'accounts' | 'tokens', number>>(`
    SELECT (SELECT count(*) FROM account) AS accounts,
      (SELECT count(*) FROM token WHERE kind = 'server' AND "revokedTime" IS NULL AND "memberID" IS NULL AND NOT session
        AND coalesce("expiresTime" > ${Date.now()}, true)) AS tokens`);
  const position = await db.one<{ day: number }>('SELECT max(day) AS day FROM account_position');
  const open = await db.one<{ erasures: number }>('SELECT count(*) AS erasures FROM erasure WHERE NOT complete');
  const refused = await db.one<Record<'listed' | 'evicted', number>>(
    'SELECT coalesce(sum(listed), 0)::bigint AS listed, coalesce(sum(evicted), 0)::bigint AS evicted FROM refused_count',
  );
  const totals = { ...counts, ...position, ...open, ...refused };
  return [
    {
      name: 'accounts',
      ok: totals.accounts > 0,
      detail: `${totals.accounts}, with ${formatCount(totals.tokens, 'live server token')}`,
    },
    checkClock(totals.day),
    checkRefused(totals),
    checkProxy(await runOperation(db, findUnknownProxy())),
    ...(options.accountBytes === undefined ? [] : checkQuotas(await measureAccounts(db), options)),
    { name: 'erasures', ok: true, detail: `${totals.erasures} in progress` },
  ];
};

/**
 * Reports whether tomorrow's partitions exist. The day's first event creates missing partitions, but on a cluster this
 * fails while a worker is down.
 */
export const nextDayFinding = async (db: Connection, now: number, gracePeriod?: number): Promise<Finding> => {
  const { day, exists, isDue } = await examineNextDay(db, now, gracePeriod);
  const subject = `tomorrow’s (${new Date(day * dayMilliseconds).toISOString().slice(0, 10)})`;
  const advice =
    `are missing, though a server has been connected for two hours: search the servers’ logs for "${failureText}", ` +
    'which gives the reason. Until they exist, tomorrow’s events may be refused';
  const details = {
    existing: 'exist',
    due: advice,
    early: 'do not exist yet: a server creates them in its hourly run',
  };
  const state = exists ? 'existing' : isDue ? 'due' : 'early';
  return { name: 'partitions', ok: state !== 'due', detail: `${subject} ${details[state]}` };
};

interface Archiving {
  readonly mode: string;
  /** In milliseconds since 1970; null: never. */
  readonly archivedTime: number | null;
  readonly failedTime: number | null;
}

/**
 * Reports whether PostgreSQL archives its WAL. PostgreSQL does not know about backups that pg_dump or another machine
 * makes.
 */
export const archivingFinding = ({ mode, archivedTime, failedTime }: Archiving): Finding => {
  const name = 'backup';
  const at = (time: number) => new Date(time).toISOString();
  if (mode === 'off')
    return {
      name,
      ok: true,
      detail: 'PostgreSQL archives no WAL and cannot see other backups: check that yours are running',
    };
  if (failedTime !== null && (archivedTime === null || failedTime > archivedTime))
    return {
      name,
      ok: false,
      detail: `PostgreSQL failed to archive its WAL on ${at(failedTime)}: check archive_command`,
    };
  const last = archivedTime === null ? 'has archived no WAL yet' : `last archived its WAL on ${at(archivedTime)}`;
  return { name, ok: true, detail: `PostgreSQL ${last}` };
};

const examineArchiving = async (db: HeldConnection): Promise<Finding> =>
  archivingFinding(
    await db.one<Archiving>(`
      SELECT current_setting('archive_mode') AS mode,
        (extract(epoch FROM last_archived_time) * 1000)::bigint AS "archivedTime",
        (extract(epoch FROM last_failed_time) * 1000)::bigint AS "failedTime"
      FROM pg_stat_archiver`),
  );

const examine = async (db: HeldConnection, options: ExamineOptions): Promise<Finding[]> => {
  const { version } = await db.one<{ version: string }>("SELECT current_setting('server_version') AS version");
  const schema = await readSchema(db);
  const newest = getNewestMigration();
  const cluster = db.isDistributed ? await examineCluster(db) : { findings: [], isWhole: true };
  return [
    { name: 'PostgreSQL', ok: true, detail: version },
    {
      name: 'schema',
      ok: schema === newest,
      detail: `${schema}; this program uses ${newest}${schema < newest ? ' and updates it when a server starts: make a backup first (pg_dump)' : ''}`,
    },
    await examineArchiving(db),
    ...cluster.findings,
    ...(schema === newest ? [await nextDayFinding(db, Date.now())] : []),
    ...(schema === newest && cluster.isWhole ? await examineRows(db, options) : []),
  ];
};

/**
 * Returns the findings about a database; a finding that is not `ok` needs an operator's attention. Changes no account
 * rows. On a cluster, sequences can skip numbers (`skipLostNumbers`).
 */
export const examineDatabase = async (databaseURL: string, options: ExamineOptions): Promise<Finding[]> => {
  try {
    return await runOnConnection(databaseURL, (db) => examine(db, options));
  } catch (error) {
    return [{ name: 'database', ok: false, detail: `cannot be examined: ${(error as Error).message}` }];
  }
};
