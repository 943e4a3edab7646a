import type { Command } from 'commander';
import { addDatabase, databaseURLOf } from './database.ts';
import { jsonFlag } from './flags.ts';
import { printJSON, printLine, toTable } from './printing.ts';

export const define = (command: Command): void => {
  addDatabase(command)
    .option(...jsonFlag)
    .action(examine);
};

/** Exit code 1 when anything is not as it should be. */
const examine = async (options: Record<string, unknown>): Promise<void> => {
  const { examineStore } = await import('../store/open.ts');
  const findings = await examineStore(databaseURLOf(options));
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
