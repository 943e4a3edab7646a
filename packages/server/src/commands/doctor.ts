import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { findMisspelledSettings } from '../config/config.ts';
import { trackerFolder } from '../shared/built-folders.ts';
import type { Finding } from '../store/doctor-findings.ts';
import { addDatabase, type DatabaseOptions, databaseURLOf } from './shared/database.ts';
import { addSettings, settingsOf } from './shared/flags.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

const examined = ['accountBytes', 'backupDir', 'backupEvery', 'reportsDir'] as const;

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

/** The folder, or the nearest one above it in which the server would make it. */
const findExistingParent = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : findExistingParent(dirname(folder));

/** Reports REPORTS_DIR if this user may not write there: the server would not start. BACKUP_DIR is examined with its backups. */
const examineReportsFolder = (reportsDir: string | undefined): Finding[] => {
  if (reportsDir === undefined) return [];
  const folder = resolve(reportsDir);
  try {
    accessSync(findExistingParent(folder), constants.W_OK | constants.X_OK);
    return [{ name: 'reports', ok: true, detail: `${folder} (REPORTS_DIR)` }];
  } catch (error) {
    const detail =
      `user ${process.getuid?.()} may not write to ${folder} (REPORTS_DIR): ${(error as Error).message}; ` +
      'run this as the user that serves, or give the folder to that user (chown)';
    return [{ name: 'reports', ok: false, detail }];
  }
};

/** Whether systemd starts the service at each boot. False where there is no systemd. */
const isUnitEnabled = (): boolean => spawnSync('systemctl', ['is-enabled', '--quiet', 'firsthand']).status === 0;

/** A server that does not run needs attention where a unit is to run it. Another database may have no server. */
const withUnit = (findings: readonly Finding[], options: DatabaseOptions): Finding[] =>
  findings.map((finding) => {
    const isStopped = finding.name === 'server' && finding.ok && finding.detail === 'not running';
    if (!isStopped || options.databaseUrl !== undefined || !isUnitEnabled()) return finding;
    const detail = 'not running, although the unit firsthand is enabled: journalctl -u firsthand -o cat has the reason';
    return { ...finding, ok: false, detail };
  });

/** Prints the findings. The exit code is 1 if one of them is not ok. */
const examine = async (options: DatabaseOptions): Promise<void> => {
  const { examineStore } = await import('../store/open.ts');
  const config = settingsOf(examined, options);
  const findings = [
    ...withUnit(await examineStore(databaseURLOf(options), config), options),
    ...examineReportsFolder(config.reportsDir),
    examineSettings(),
    examineTracker(trackerFolder),
  ];
  const ok = findings.every((finding) => finding.ok);
  if (!ok) process.exitCode = 1;
  if (options.json) return printJSON({ ok, finding: findings });
  const rows = findings.map(({ name, ok, detail }) => [ok ? 'ok' : 'NOT OK', name, detail]);
  printLine(toTable([['', 'EXAMINED', 'FOUND'], ...rows]));
};
