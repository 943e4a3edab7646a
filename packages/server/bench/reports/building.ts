/** Builds the files of reports, and reads what is in them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Question } from '../../src/reports/questions.ts';
import { createReports, type ReportsOptions } from '../../src/reports/reports.ts';

interface Manifest {
  /** The attrIDs, by the numbers of their columns. */
  readonly attributes: readonly string[];
  readonly events: readonly { readonly name: string; readonly events: number }[];
  readonly owners: { readonly name: string };
}

export const manifestOf = (own: string): Manifest =>
  JSON.parse(readFileSync(join(own, 'manifest.json'), 'utf8').split('\n')[1] as string);

/** The milliseconds that it takes. */
export const time = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** A process that ends has no time to write its last events when the machine is busy; then they are read again. */
const maxAttempts = 3;

/** Builds the files by asking a question. `own`: the folder of its account, which has so many `events`. */
export const buildFiles = async (
  settings: ReportsOptions,
  question: Question,
  { own, events }: { readonly own: string; readonly events: number },
): Promise<{ readonly milliseconds: number; readonly bytes: number }> => {
  const inFiles = () => manifestOf(own).events.reduce((sum, file) => sum + file.events, 0);
  let milliseconds = 0;
  for (let attempt = 0; attempt === 0 || inFiles() < events; attempt += 1) {
    if (attempt === maxAttempts) throw new Error('the files do not hold all events');
    const reports = createReports(settings);
    try {
      milliseconds += await time(() => reports.ask(question));
    } finally {
      await reports.close();
    }
  }
  return { milliseconds, bytes: readdirSync(own).reduce((sum, name) => sum + statSync(join(own, name)).size, 0) };
};
