/** When `firsthand backup` last copied a database: the modification time of a file beside it. For `firsthand doctor`. */
import { statSync, writeFileSync } from 'node:fs';
import type { ExamineOptions, Finding } from '../../doctor-findings.ts';
import { openBackupFolder } from './backup-folder.ts';
import { give, ownerAmong } from './owner.ts';

const dayMilliseconds = 86_400_000;
/** The age from which a person should check the backups of a database that was backed up before. */
const mostDays = 7;

const markOf = (path: string): string => `${path}-backup`;

/** `target` is written into the mark for people. A user who may only read the database writes no mark. */
export const markBackup = (path: string, target: string): void => {
  try {
    writeFileSync(markOf(path), `${new Date().toISOString()} ${target}\n`);
    give(markOf(path), ownerAmong(path));
  } catch {
    // The backup exists all the same.
  }
};

export const examineBackup = (path: string): Finding => {
  const mark = statSync(markOf(path), { throwIfNoEntry: false });
  if (!mark)
    return { name: 'backup', ok: false, detail: 'there is none: set BACKUP_DIR, or run firsthand backup <file>' };
  const days = (Date.now() - mark.mtimeMs) / dayMilliseconds;
  return { name: 'backup', ok: days <= mostDays, detail: `the last one is ${days.toFixed(1)} days old` };
};

/** Reports whether the newest backup in BACKUP_DIR is as new as BACKUP_EVERY promises: a period may be missed once. */
export const examineFolder = (path: string, { backupDir, backupEvery }: ExamineOptions): Finding[] => {
  if (backupDir === undefined || backupEvery === undefined) return [];
  const now = Date.now();
  // One with a later date was made while the clock was ahead: it may be of any age.
  const newest = openBackupFolder(path, backupDir)
    .list()
    .find(({ time }) => time <= now);
  const name = 'scheduled backups';
  if (!newest) return [{ name, ok: false, detail: `there is none of this database in ${backupDir}` }];
  const hours = (now - newest.time) / 3_600_000;
  const detail = `the newest in ${backupDir} is ${hours.toFixed(1)} hours old`;
  return [{ name, ok: hours <= (2 * backupEvery) / 3_600_000, detail }];
};
