/** Builds report files, and reads their manifest. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportQuery } from '../../src/reports/queries.ts';
import { createReports, type ReportsOptions } from '../../src/reports/reports.ts';

interface Manifest {
  /** The attrIDs, by column number. */
  readonly attributes: readonly string[];
  readonly events: readonly { readonly name: string; readonly events: number }[];
  readonly owners: { readonly name: string };
}

export const readManifest = (accountFolder: string): Manifest =>
  JSON.parse(readFileSync(join(accountFolder, 'manifest.json'), 'utf8').split('\n')[1] as string);

/** Returns the duration of `work` in milliseconds. */
export const time = async (work: () => Promise<unknown>): Promise<number> => {
  const startTime = performance.now();
  await work();
  return performance.now() - startTime;
};

/** On a busy machine, a process can exit before it has written its last events, which are then read again. */
const maxAttempts = 3;

/** Builds the files by running a report. `accountFolder` is the account's folder, and `events` its number of events. */
export const buildFiles = async (
  settings: ReportsOptions,
  query: ReportQuery,
  { accountFolder, events }: { readonly accountFolder: string; readonly events: number },
): Promise<{ readonly milliseconds: number; readonly bytes: number }> => {
  const countEventsInFiles = () => readManifest(accountFolder).events.reduce((sum, file) => sum + file.events, 0);
  let milliseconds = 0;
  for (let attempt = 0; attempt === 0 || countEventsInFiles() < events; attempt += 1) {
    if (attempt === maxAttempts) throw new Error('the files do not contain all events');
    const reports = createReports(settings);
    try {
      milliseconds += await time(() => reports.run(query));
    } finally {
      await reports.close();
    }
  }
  return {
    milliseconds,
    bytes: readdirSync(accountFolder).reduce((sum, name) => sum + statSync(join(accountFolder, name)).size, 0),
  };
};
