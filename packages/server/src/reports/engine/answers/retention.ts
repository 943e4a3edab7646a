/** Retention: in which periods the people of each period came back. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Question, RetentionAnswer, RetentionQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { and, clause, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createGrid, isGridOf, valuesOfSpans } from './grid.ts';
import { createScope } from './scope.ts';

/**
 * Makes the temporary tables `periods`, of each person and period the first and last places of events that count, and `cohorts`, of each person
 * the period and place of its first one.
 */
export const prepareCohorts = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question & Pick<RetentionQuestion, 'edges' | 'first' | 'back'>,
): Promise<void> => {
  const { from, edges, first, back } = question;
  const starts = edges.slice(0, -1).map((edge, period) => [edge, period] as const);
  const grid = createGrid(from, edges.slice(1, -1));
  const arePeriods = isGridOf(grid, edges);
  const scope = createScope(source, question);
  const meets = (condition: Condition | null) => (condition === null ? and([]) : scope.meets(condition));
  const [isFirst, isBack] = [meets(first), meets(back)];
  scope.add('span', scope.spanOf(grid));
  scope.add('place', scope.place);
  scope.add('is_first', isFirst);
  scope.add('is_back', isBack);
  const rows = scope.rows({ where: sql`${scope.matched} AND (${isFirst} OR ${isBack})` });
  await run(
    connection,
    sql`CREATE TEMP TABLE cells AS SELECT person, span, min(place) FILTER (WHERE is_first) AS first,
      max(place) FILTER (WHERE is_back) AS back FROM ${rows} GROUP BY person, span`,
  );
  const spans = () => valuesOfSpans(grid, starts, sql`SELECT DISTINCT span FROM cells`);
  const inPeriods = arePeriods
    ? sql`SELECT * EXCLUDE (span), span AS period FROM cells`
    : sql`SELECT person, value AS period, min(first) AS first, max(back) AS back FROM cells
        JOIN ${spans()} USING (span) GROUP BY person, value`;
  const made = arePeriods ? clause`VIEW` : clause`TABLE`;
  await run(connection, sql`CREATE TEMP ${made} periods AS ${inPeriods}`);
  await run(
    connection,
    sql`CREATE TEMP TABLE cohorts AS SELECT person, min(period) AS cohort, arg_min(first, period) AS first
      FROM periods WHERE first IS NOT NULL GROUP BY person`,
  );
};

export const answerRetention = async (
  connection: DuckDBConnection,
  source: Source,
  question: RetentionQuestion,
): Promise<RetentionAnswer> => {
  const starts = question.edges.slice(0, -1);
  await prepareCohorts(connection, source, question);
  const rows = await run(
    connection,
    sql`SELECT cohort, NULL AS period, count(*) AS people FROM cohorts GROUP BY cohort
      UNION ALL
      SELECT cohort, period, count(*) AS people FROM cohorts JOIN periods USING (person)
      WHERE periods.back > cohorts.first GROUP BY cohort, period`,
  );
  const cohorts = starts.map((_, cohort) => ({ people: 0, back: new Array<number>(starts.length - cohort).fill(0) }));
  for (const { cohort, period, people } of rows) {
    const answer = cohorts[Number(cohort)] as (typeof cohorts)[number];
    if (period === null) answer.people = Number(people);
    else answer.back[Number(period) - Number(cohort)] = Number(people);
  }
  return { cohorts };
};
