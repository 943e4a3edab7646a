import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Finding } from '../store/finding.ts';
import { trackerFolder } from '../tracker-folder.ts';
import { addDatabase, databaseURLOf } from './database.ts';
import { addSettings, jsonFlag, settingsOf } from './flags.ts';
import { printJSON, printLine, toMinute, toTable } from './printing.ts';

export const define = (command: Command): void => {
  addSettings(addDatabase(command), ['accountBytes'])
    .option(...jsonFlag)
    .action(examine);
};

/** A server without it answers 404 where pages look for their script; one that only takes events from servers needs none. */
const examineTracker = (): Finding => {
  const built = statSync(`${trackerFolder}tracker.js`, { throwIfNoEntry: false });
  const detail = built ? `built ${toMinute(built.mtimeMs)}` : 'not built: npm run build makes tracker.js';
  return { name: 'tracker', ok: true, detail };
};

/** Exit code 1 when anything is not as it should be. */
const examine = async (options: Record<string, unknown>): Promise<void> => {
  const { examineStore } = await import('../store/open.ts');
  const findings = [
    ...(await examineStore(databaseURLOf(options), settingsOf(['accountBytes'], options))),
    examineTracker(),
  ];
  const ok = findings.every((finding) => finding.ok);
  if (options.json) printJSON({ ok, finding: findings });
  else
    printLine(
      toTable(
        ['', 'EXAMINED', 'FOUND'],
        findings.map(({ name, ok, detail }) => [ok ? 'ok' : 'NOT OK', name, detail]),
      ),
    );
  if (!ok) process.exitCode = 1;
};
