/**
 * Funnels. For each event that meets a step, the latest time at which somebody can have begun to go through all steps up to it: the
 * latest is the best for every later step, so one number for each step is enough.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FunnelAnswer, FunnelQuestion } from '../questions.ts';
import type { Source } from './account.ts';
import { createGrid, spanOf } from './grid.ts';
import { createScope } from './scope.ts';
import { firstAndLast, writeSessions } from './sessions.ts';
import { runWith } from './values.ts';

export const answerFunnel = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
): Promise<FunnelAnswer> => {
  const { steps, per, withinMilliseconds, from } = question;
  const grid = createGrid(from, []);
  const perSession = per === 'session';
  if (perSession) {
    await runWith(connection, (values) => {
      const scope = createScope(source, question, values);
      scope.add('span', spanOf(grid, '"eventTime"', values));
      scope.add('"eventTime"', '"eventTime"');
      return `CREATE TEMP TABLE cells AS SELECT visitor, span, ${firstAndLast}
        FROM (${scope.rows({ withPerson: false })}) GROUP BY visitor, span`;
    });
    await writeSessions(connection);
  }
  const who = perSession ? 'person, session' : 'person';
  const [row] = await runWith(connection, (values) => {
    const scope = createScope(source, question, values);
    const meets = steps.map((step) => scope.meets(step));
    for (const [index, sql] of meets.entries()) scope.add(`step${index}`, sql);
    scope.add('time', '"eventTime"');
    scope.add('sequence', 'sequence');
    if (perSession) scope.add('span', spanOf(grid, '"eventTime"', values));
    const rows = `SELECT * FROM (${scope.rows({ where: `${scope.matched} AND (${meets.join(' OR ')})` })})
      ${perSession ? 'JOIN sessions USING (visitor, span)' : ''}`;
    const within = values.integer(withinMilliseconds);
    const before = `OVER (PARTITION BY ${who} ORDER BY time, sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
    let query = `SELECT *, CASE WHEN step0 THEN time END AS begun0 FROM (${rows})`;
    for (let step = 1; step < steps.length; step += 1) {
      const begun = `SELECT *, max(begun${step - 1}) ${before} AS possible${step} FROM (${query})`;
      query = `SELECT *, CASE WHEN step${step} AND time - possible${step} <= ${within} THEN possible${step} END AS begun${step} FROM (${begun})`;
    }
    const reached = steps.map((_, step) => `count(begun${step}) > 0 AS reached${step}`);
    const sums = steps.map((_, step) => `count_if(reached${step}) AS people${step}`);
    return `SELECT ${sums.join(', ')} FROM (SELECT ${reached.join(', ')} FROM (${query}) GROUP BY ${who})`;
  });
  return { steps: steps.map((_, step) => Number(row?.[`people${step}`])) };
};
