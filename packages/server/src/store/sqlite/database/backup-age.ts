/** When `firsthand backup` last copied a database: the modification time of a file beside it. For `firsthand doctor`. */
import { statSync, writeFileSync } from 'node:fs';
import type { Finding } from '../../doctor-findings.ts';

const dayMilliseconds = 86_400_000;
/** The age from which a person should check the backups of a database that was backed up before. */
const mostDays = 7;

const markOf = (path: string): string => `${path}-backup`;

/** `target` is written into the mark for people. A user who may only read the database writes no mark. */
export const markBackup = (path: string, target: string): void => {
  try {
    writeFileSync(markOf(path), `${new Date().toISOString()} ${target}\n`);
  } catch {
    // The backup exists all the same.
  }
};

export const examineBackup = (path: string): Finding => {
  const mark = statSync(markOf(path), { throwIfNoEntry: false });
  if (!mark) return { name: 'backup', ok: true, detail: 'firsthand backup has made none' };
  const days = (Date.now() - mark.mtimeMs) / dayMilliseconds;
  return { name: 'backup', ok: days <= mostDays, detail: `the last one is ${days.toFixed(1)} days old` };
};
