/** Examines a database for `firsthand doctor`. Read-only. */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { formatCount } from '../../../shared/format-count.ts';
import {
  checkClock,
  checkProxy,
  checkQuotas,
  checkRefused,
  type ExamineOptions,
  type Finding,
} from '../../doctor-findings.ts';
import { findUnknownProxy } from '../../operations/unknown-proxy.ts';
import { createAccountReader } from '../accounts/accounts.ts';
import { countDamagedBlocks } from '../event-log/event-log.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { examineBackup, examineFolder } from './backup-age.ts';
import { applicationID, type Connection, openConnection } from './connection.ts';
import { examinePermissions } from './file-permissions.ts';
import { tryLock } from './lock.ts';
import { getNewestMigration } from './migrate.ts';

const mebibyte = 1024 * 1024;
const minFreeBytes = 256 * mebibyte;
const maxWALBytes = 64 * mebibyte;

const examineServer = (path: string): Finding => {
  const finding = (ok: boolean, detail: string): Finding => ({ name: 'server', ok, detail });
  if (!existsSync(`${path}-lock`)) return finding(true, 'not running');
  try {
    const unlock = tryLock(path);
    unlock?.();
    return finding(true, unlock === undefined ? 'running' : 'not running');
  } catch (error) {
    // Reports the error, because the lock file may belong to another user.
    return finding(false, `cannot tell whether it is running: ${(error as Error).message}`);
  }
};

const examineEvents = (db: Connection): Finding => {
  const damaged = countDamagedBlocks(db);
  return { name: 'events', ok: damaged === 0, detail: formatCount(damaged, 'damaged block') };
};

const examineRefused = (db: Connection): Finding => {
  const sum = 'SELECT coalesce(sum(listed), 0) AS listed, coalesce(sum(evicted), 0) AS evicted FROM refused_count';
  return checkRefused(db.prepare<[], { listed: number; evicted: number }>(sum).get() as never);
};

const examineQuotas = (db: Connection, options: ExamineOptions): Finding[] => {
  if (options.accountBytes === undefined) return [];
  const steps = createAccountReader(db).measureAccounts();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return checkQuotas(value, options);
  }
};

const examineRows = (db: Connection, options: ExamineOptions): Finding[] => {
  const count = (sql: string) => db.prepare<[], number>(sql).pluck().get() as number;
  const damage = db.prepare<[], string>('PRAGMA quick_check(5)').pluck().all();
  const orphans = db.prepare('PRAGMA foreign_key_check').all();
  const version = db.pragma('user_version', { simple: true }) as number;
  const accounts = count('SELECT count(*) FROM account');
  const isCurrent = version === getNewestMigration();
  // Excludes console sessions and members' access, which no program uses. An older schema may lack the columns.
  const ofPrograms = isCurrent
    ? `AND memberID IS NULL AND NOT session AND coalesce(expiresTime > ${Date.now()}, true)`
    : '';
  const tokens = count(`SELECT count(*) FROM token WHERE kind = 'server' AND revokedTime IS NULL ${ofPrograms}`);
  const day = count('SELECT day FROM position');
  const erasing = count('SELECT count(*) FROM erasure WHERE NOT complete');
  const sqlite = db.prepare<[], string>('SELECT sqlite_version()').pluck().get() as string;
  return [
    { name: 'SQLite', ok: true, detail: sqlite },
    { name: 'structure', ok: damage.join() === 'ok', detail: damage.join('; ') },
    { name: 'references', ok: orphans.length === 0, detail: formatCount(orphans.length, 'dangling reference') },
    {
      name: 'schema',
      ok: isCurrent,
      detail: `${version}; this program needs ${getNewestMigration()}${version < getNewestMigration() ? ': the server updates it at start, after a backup' : ''}`,
    },
    {
      name: 'accounts',
      ok: accounts > 0,
      detail: `${accounts}, with ${formatCount(tokens, 'live server token')}`,
    },
    checkClock(day),
    { name: 'erasures', ok: true, detail: `${erasing} in progress` },
    // Skipped for an older schema, which lacks blocks or checksums.
    ...(isCurrent
      ? [
          examineRefused(db),
          checkProxy(createOperationRunner(db)(findUnknownProxy())),
          ...examineQuotas(db, options),
          ...examineFolder(db.name, options),
          examineEvents(db),
        ]
      : []),
  ];
};

const examineFile = (path: string, options: ExamineOptions): Finding[] => {
  try {
    const db = openConnection(path, 'read');
    try {
      const ours = db.pragma('application_id', { simple: true }) === applicationID;
      if (!ours) return [{ name: 'file', ok: false, detail: `${path} is another program's database` }];
      return [{ name: 'file', ok: true, detail: path }, ...examineRows(db, options)];
    } finally {
      db.close();
    }
  } catch (error) {
    return [{ name: 'file', ok: false, detail: `${path} cannot be read: ${(error as Error).message}` }];
  }
};

/** Returns a finding if there is no file at `path`, or if this user is not allowed to access it. */
const examineAbsence = (path: string, isRelative: boolean): Finding | undefined => {
  const finding = { name: 'file', ok: false };
  try {
    if (statSync(path, { throwIfNoEntry: false })) return undefined;
  } catch (error) {
    return { ...finding, detail: `${path}: ${(error as Error).message}; run this as the server’s user` };
  }
  const hint = isRelative
    ? '; a relative DATABASE_URL is resolved from the current folder, and by the service from its WorkingDirectory'
    : '';
  return { ...finding, detail: `there is no database at ${path}: firsthand serve creates it${hint}` };
};

export const examineDatabase = async (databasePath: string, options: ExamineOptions = {}): Promise<Finding[]> => {
  const path = resolve(databasePath);
  const absence = examineAbsence(path, !isAbsolute(databasePath));
  if (absence) return [absence];
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  const wal = existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0;
  const inFile = examineFile(path, options);
  // Scheduled backups have their own finding. The mark of a manual backup is then not examined: it can be missing, for
  // example after a restore.
  const backups = inFile.some(({ name }) => name === 'scheduled backups') ? [] : [examineBackup(path, options)];
  return [
    ...inFile,
    examinePermissions(path),
    ...backups,
    { name: 'disk', ok: free > minFreeBytes, detail: `${Math.floor(free / mebibyte)} MiB free` },
    { name: 'write-ahead log', ok: wal <= maxWALBytes, detail: `${Math.ceil(wal / mebibyte)} MiB` },
    examineServer(path),
  ];
};
