import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { findMisspelledSettings } from '../config/config.ts';
import { trackerFolder } from '../shared/built-folders.ts';
import type { Finding } from '../store/doctor-findings.ts';
import { addDatabase, type DatabaseOptions, toDatabaseURL } from './shared/database.ts';
import { addSettings, toSettings } from './shared/flags.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

const checkedSettings = ['accountBytes', 'backupDir', 'backupEvery', 'reportsDir'] as const;

export const define = (command: Command): void => {
  addSettings(addDatabase(command), checkedSettings).action(examine);
};

/** Reports whether the tracker is built. Always ok, because a server without browser events needs no tracker. */
export const examineTracker = (folder: string): Finding => {
  const built = statSync(`${folder}tracker.js`, { throwIfNoEntry: false });
  if (!built) return { name: 'tracker', ok: true, detail: 'not built: run npm run build' };
  // npm sets every packed file's time to 1985.
  const detail = built.mtimeMs < Date.UTC(2000, 0) ? 'built' : `built ${toMinute(built.mtimeMs)}`;
  return { name: 'tracker', ok: true, detail };
};

/** Reports misspelled variables, which the server ignores with a warning. */
const examineSettings = (): Finding => {
  const misspelled = findMisspelledSettings(process.env);
  const detail = misspelled.join(' ') || 'no misspelled variables';
  return { name: 'settings', ok: misspelled.length === 0, detail };
};

/** The folder, or the nearest existing parent, in which the server would create it. */
const findExistingParent = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : findExistingParent(dirname(folder));

/**
 * Checks that this user can write to REPORTS_DIR, without which the server does not start. examineStore checks
 * BACKUP_DIR.
 */
const examineReportsFolder = (reportsDir: string | undefined): Finding[] => {
  if (reportsDir === undefined) return [];
  const folder = resolve(reportsDir);
  try {
    accessSync(findExistingParent(folder), constants.W_OK | constants.X_OK);
    return [{ name: 'reports', ok: true, detail: `${folder} (REPORTS_DIR)` }];
  } catch (error) {
    const detail =
      `user ${process.getuid?.()} can't write to ${folder} (REPORTS_DIR): ${(error as Error).message}; ` +
      "run this command as the server's user, or give the folder to that user (chown)";
    return [{ name: 'reports', ok: false, detail }];
  }
};

/** Whether systemd starts the service on boot. False without systemd. */
const isUnitEnabled = (): boolean => spawnSync('systemctl', ['is-enabled', '--quiet', 'firsthand']).status === 0;

/**
 * Makes "not running" a problem if an enabled unit should be running the server. Applies only to the default database.
 */
const withUnit = (findings: readonly Finding[], options: DatabaseOptions): Finding[] =>
  findings.map((finding) => {
    const isStopped = finding.name === 'server' && finding.ok && finding.detail === 'not running';
    if (!isStopped || options.databaseUrl !== undefined || !isUnitEnabled()) return finding;
    const detail =
      'not running, although the unit firsthand is enabled: see journalctl -u firsthand -o cat for the reason';
    return { ...finding, ok: false, detail };
  });

/** Prints the findings. Exits with 1 if any is not ok. */
const examine = async (options: DatabaseOptions): Promise<void> => {
  const { examineStore } = await import('../store/open.ts');
  const config = toSettings(checkedSettings, options);
  const findings = [
    ...withUnit(await examineStore(toDatabaseURL(options), config), options),
    ...examineReportsFolder(config.reportsDir),
    examineSettings(),
    examineTracker(trackerFolder),
  ];
  const ok = findings.every((finding) => finding.ok);
  if (!ok) process.exitCode = 1;
  if (options.json) return printJSON({ ok, finding: findings });
  const rows = findings.map(({ name, ok, detail }) => [ok ? 'ok' : 'NOT OK', name, detail]);
  printLine(toTable([['', 'CHECK', 'RESULT'], ...rows]));
};
