/** Any filter of a report is answered or refused: never with a fault, never late, and only good conditions reach the engine. */
import { expect, it } from 'vitest';
import { createFakeReports } from '../fixtures/reports/fake-reports.ts';
import { sendHostileFilters } from '../fixtures/reports/hostile-filters.ts';
import { openScene } from '../fixtures/scene.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';

const filters = times({ quick: 20_000, full: 100_000 });
/** What is late; generous in the quick run, which shares its machine. */
const patienceMilliseconds = times({ quick: 10_000, full: 1_000 });

it(`answers reports with ${filters} hostile filters`, async (context) => {
  const reports = createFakeReports();
  const scene = await openScene({ reports });
  const seen = await sendHostileFilters({ ...scene, reports }, filters, 1);
  await scene.close();
  expect(seen.wrong).toEqual([]);
  expect(seen.slowestMilliseconds).toBeLessThan(patienceMilliseconds);
  // Else it is only refusals, or only answers, that were tried.
  expect(Math.min(seen.answered, seen.refused) / filters).toBeGreaterThan(0.1);

  const throwing = createFakeReports(async ({ condition }) => {
    if (condition !== null && 'not' in condition) throw new TypeError('not known');
    return undefined;
  });
  const weakened = await openScene({ reports: throwing });
  const { wrong } = await sendHostileFilters({ ...weakened, reports: throwing }, 2_000, 1);
  await weakened.close();
  expect(wrong.length).toBeGreaterThan(0);
  report(context, {
    fault: 'filters of reports',
    count: `${filters} filters, a fifth of them broken JSON`,
    result: `0 answered with a fault, ${seen.answered} × 200, ${seen.refused} refused, the slowest after ${Math.round(seen.slowestMilliseconds)} ms`,
    weakened: `an engine that fails at \`not\`: ${wrong.length} faults, at which it stops`,
  });
});
