/**
 * Tests that reports accept or refuse any filter in time and without an internal error, and that only valid conditions
 * reach the engine.
 */
import { expect, it } from 'vitest';
import { createFakeReports } from '../fixtures/reports/fake-reports.ts';
import { sendHostileFilters } from '../fixtures/reports/hostile-filters.ts';
import { openScene } from '../fixtures/scene.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';

const filters = times({ quick: 4_000, full: 100_000 });
/** The time limit for a response. Generous in quick runs, which share their machine. */
const timeoutMilliseconds = times({ quick: 10_000, full: 1_000 });

it(`accepts or refuses ${filters} hostile report filters`, async (context) => {
  const reports = createFakeReports();
  const scene = await openScene({ reports });
  const result = await sendHostileFilters({ ...scene, reports }, filters, 1);
  await scene.close();
  expect(result.wrong).toEqual([]);
  expect(result.slowestMilliseconds).toBeLessThan(timeoutMilliseconds);
  // Requires enough of both outcomes, because neither refused nor accepted filters prove much on their own.
  expect(Math.min(result.answered, result.refused) / filters).toBeGreaterThan(0.1);

  const throwing = createFakeReports(async ({ condition }) => {
    if (condition !== null && 'not' in condition) throw new TypeError('not known');
    return undefined;
  });
  const weakened = await openScene({ reports: throwing });
  const { wrong } = await sendHostileFilters({ ...weakened, reports: throwing }, 2_000, 1);
  await weakened.close();
  expect(wrong.length).toBeGreaterThan(0);
  report(context, {
    fault: 'report filters',
    count: `${filters} filters, a fifth of them broken JSON`,
    result: `0 server faults, ${result.answered} × 200, ${result.refused} refused, the slowest after ${Math.round(result.slowestMilliseconds)} ms`,
    weakened: `an engine that fails at \`not\`: ${wrong.length} faults, after which the test stops`,
  });
});
