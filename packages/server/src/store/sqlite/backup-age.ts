/** When `firsthand backup` last copied a database, for `firsthand doctor`: the time of a file beside it. */
import { statSync, writeFileSync } from 'node:fs';
import type { Finding } from '../finding.ts';

const dayMilliseconds = 86_400_000;
/** A database that was backed up once is meant to be: from here on somebody should look. */
const mostDays = 7;

const markOf = (path: string): string => `${path}-backup`;

/** `target` is written into the mark, for people. A user who may only read the database leaves none. */
export const markBackup = (path: string, target: string): void => {
  try {
    writeFileSync(markOf(path), `${new Date().toISOString()} ${target}\n`);
  } catch {
    // The backup is made all the same.
  }
};

export const examineBackup = (path: string): Finding => {
  const mark = statSync(markOf(path), { throwIfNoEntry: false });
  if (!mark) return { name: 'backup', ok: true, detail: 'firsthand backup has made none' };
  const days = (Date.now() - mark.mtimeMs) / dayMilliseconds;
  return { name: 'backup', ok: days <= mostDays, detail: `the last one is ${days.toFixed(1)} days old` };
};
