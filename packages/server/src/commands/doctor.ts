import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { findMisspelledSettings } from '../config/config.ts';
import { trackerFolder } from '../shared/built-folders.ts';
import type { Finding } from '../store/doctor-findings.ts';
import { addDatabase, type DatabaseOptions, databaseURLOf } from './shared/database.ts';
import { addSettings, settingsOf } from './shared/flags.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

const examined = ['accountBytes', 'backupDir', 'backupEvery'] as const;

export const define = (command: Command): void => {
  addSettings(addDatabase(command), examined).action(examine);
};

/** Reports whether the tracker is built. It is always ok, because a server that takes events from servers only needs no tracker. */
export const examineTracker = (folder: string): Finding => {
  const built = statSync(`${folder}tracker.js`, { throwIfNoEntry: false });
  if (!built) return { name: 'tracker', ok: true, detail: 'not built: npm run build makes tracker.js' };
  // npm packs every file with a time in 1985.
  const detail = built.mtimeMs < Date.UTC(2000, 0) ? 'built' : `built ${toMinute(built.mtimeMs)}`;
  return { name: 'tracker', ok: true, detail };
};

/** Reports variables that the server would ignore, as the server does at its start. */
const examineSettings = (): Finding => {
  const misspelled = findMisspelledSettings(process.env);
  const detail = misspelled.join(' ') || 'no variable looks like a misspelled one';
  return { name: 'settings', ok: misspelled.length === 0, detail };
};

/** Prints the findings. The exit code is 1 if one of them is not ok. */
const examine = async (options: DatabaseOptions): Promise<void> => {
  const { examineStore } = await import('../store/open.ts');
  const findings = [
    ...(await examineStore(databaseURLOf(options), settingsOf(examined, options))),
    examineSettings(),
    examineTracker(trackerFolder),
  ];
  const ok = findings.every((finding) => finding.ok);
  if (!ok) process.exitCode = 1;
  if (options.json) return printJSON({ ok, finding: findings });
  const rows = findings.map(({ name, ok, detail }) => [ok ? 'ok' : 'NOT OK', name, detail]);
  printLine(toTable([['', 'EXAMINED', 'FOUND'], ...rows]));
};
