/** Retention: in which periods the people of each period came back. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Question, RetentionAnswer, RetentionQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { and, clause, nothing, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createGrid, isGridOf, valuesOfSpans } from './grid.ts';
import { createScope } from './scope.ts';

/** The place that stands for the first event of a period, where every event begins and comes back. */
const firstOf = (period: SQL): SQL => sql`2 * ${period}`;

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
  // Where every event counts, their number says whether one of a period follows the first: no event's place is read.
  const areAll = first === null && back === null;
  const ends = areAll
    ? clause`${firstOf(sql`period`)} AS first, ${firstOf(sql`period`)} + (events > 1)::INTEGER AS back`
    : clause`first, back`;
  const scope = createScope(source, question);
  const meets = (condition: Condition | null) => (condition === null ? and([]) : scope.meets(condition));
  const [isFirst, isBack] = [meets(first), meets(back)];
  scope.add('span', scope.spanOf(grid));
  if (!areAll) scope.add('place', scope.place);
  if (first) scope.add('is_first', isFirst);
  if (back) scope.add('is_back', isBack);
  const rows = scope.rows({ where: sql`${scope.matched} AND (${isFirst} OR ${isBack})` });
  const counted = areAll
    ? clause`count(*) AS events`
    : clause`min(place) ${first ? clause`FILTER (WHERE is_first)` : nothing} AS first,
        max(place) ${back ? clause`FILTER (WHERE is_back)` : nothing} AS back`;
  await run(
    connection,
    sql`CREATE TEMP TABLE cells AS SELECT person, span, ${counted} FROM ${rows} GROUP BY person, span`,
  );
  const united = areAll ? clause`sum(events) AS events` : clause`min(first) AS first, max(back) AS back`;
  const spans = () => valuesOfSpans(grid, starts, sql`SELECT DISTINCT span FROM cells`);
  const inPeriods = arePeriods
    ? sql`SELECT * EXCLUDE (span), span AS period FROM cells`
    : sql`SELECT person, value AS period, ${united} FROM cells JOIN ${spans()} USING (span) GROUP BY person, value`;
  const made = arePeriods ? clause`VIEW` : clause`TABLE`;
  await run(connection, sql`CREATE TEMP ${made} periods AS SELECT person, period, ${ends} FROM ${inPeriods}`);
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
