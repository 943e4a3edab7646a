/**
 * Records when `firsthand backup` last copied a database, as the modification time of a file next to it, for `firsthand
 * doctor`.
 */
import { accessSync, constants, readdirSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatCount } from '../../../shared/format-count.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import type { ExamineOptions, Finding } from '../../doctor-findings.ts';
import { isBackupName, openBackupFolder } from './backup-folder.ts';
import { changeOwner, findOwner } from './owner.ts';

/** The age of the last backup, in days, at which `firsthand doctor` starts to warn. */
const maxDays = 7;

const markOf = (path: string): string => `${path}-backup`;

/** Marks the time of a backup. The mark contains `target`, for humans. A user with read-only access writes no mark. */
export const markBackup = (path: string, target: string): void => {
  try {
    writeFileSync(markOf(path), `${new Date().toISOString()} ${target}\n`);
    changeOwner(markOf(path), findOwner(path));
  } catch {
    // Ignores the error, because the backup itself has succeeded.
  }
};

export const examineBackup = (path: string, { backupDir }: ExamineOptions): Finding => {
  const mark = statSync(markOf(path), { throwIfNoEntry: false });
  if (!mark) {
    const advice = `${backupDir === undefined ? 'set BACKUP_DIR, or ' : ''}run firsthand backup <file>`;
    return { name: 'backup', ok: false, detail: `there is no backup: ${advice}` };
  }
  const days = (Date.now() - mark.mtimeMs) / dayMilliseconds;
  return { name: 'backup', ok: days <= maxDays, detail: `the last backup is ${days.toFixed(1)} days old` };
};

const formatDuration = (milliseconds: number): string => {
  const minutes = milliseconds / 60_000;
  if (minutes < 2) return formatCount(Math.round(milliseconds / 1_000), 'second');
  return minutes < 120 ? `${Math.round(minutes)} minutes` : `${(minutes / 60).toFixed(1)} hours`;
};

/**
 * Reports whether the newest backup in BACKUP_DIR is at most two BACKUP_EVERY periods old, so that a single missed
 * backup is not reported.
 */
export const examineFolder = (path: string, { backupDir, backupEvery }: ExamineOptions): Finding[] => {
  if (backupDir === undefined || backupEvery === undefined) return [];
  const name = 'scheduled backups';
  const folder = resolve(backupDir);
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const advice = 'run this as the server’s user, or give the folder to that user (chown)';
    if (code !== 'ENOENT') {
      const detail = `user ${process.getuid?.()} cannot read and write ${folder} (BACKUP_DIR): ${message}; ${advice}`;
      return [{ name, ok: false, detail }];
    }
  }
  const now = Date.now();
  // Skips backups with a future date: they were made while the clock was ahead, so their age is unknown.
  const newest = openBackupFolder(path, folder)
    .list()
    .find(({ time }) => time <= now);
  if (!newest) {
    const others = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder).filter(isBackupName).length : 0;
    const hint =
      others > 0
        ? `; the folder has backups of other databases (${others}): is the file in DATABASE_URL the right one?`
        : '';
    return [{ name, ok: false, detail: `there is no backup of this database in ${folder}${hint}` }];
  }
  const age = now - newest.time;
  const limit = 2 * backupEvery;
  const detail = `the newest, ${newest.file}, is ${formatDuration(age)} old; the limit is twice BACKUP_EVERY, ${formatDuration(limit)}`;
  return [{ name, ok: age <= limit, detail }];
};
