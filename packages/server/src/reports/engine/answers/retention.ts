/** Retention: in which periods the people of each period came back. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Grouping, Question, RetentionAnswer, RetentionQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { and, clause, list, name, nothing, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { createGrid, isGridOf, valuesOfSpans } from './grid.ts';
import { inOrderOf, keysOf, prepareGroups, sameGroup, valuesIn } from './groups.ts';
import { writeMembers } from './reached.ts';
import { createScope } from './scope.ts';

/**
 * Makes the temporary tables `periods`, of each person and period the first and last places of events that count, and `cohorts`, of each person
 * the period and place of its first one; with a `grouping` also `members`, of each person its groups at that event.
 */
export const prepareCohorts = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question & Pick<RetentionQuestion, 'edges' | 'first' | 'back'>,
  grouping: Grouping | undefined,
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
  if (!grouping) return;
  const groups = await prepareGroups(connection, source, { ...question, ...grouping });
  const keys = keysOf(grouping.dimensions);
  await writeMembers(connection, groups, { unit: clause`person`, wanted: { person: true }, keys, first });
};

/** The cohorts of the groups in `first`, in their order, and how many groups are not in it. */
const answerGroups = async (
  connection: DuckDBConnection,
  { dimensions, limit }: NonNullable<RetentionQuestion['groups']>,
  toCohorts: (rows: readonly Row[]) => RetentionAnswer['cohorts'],
): Promise<Pick<RetentionAnswer, 'rows' | 'others'>> => {
  const keys = keysOf(dimensions);
  const columns = list(keys.map(name));
  await run(
    connection,
    sql`CREATE TEMP TABLE grouped AS SELECT *, row_number() OVER (ORDER BY people DESC, ${inOrderOf(keys)}) AS rank
      FROM (SELECT ${columns}, count(*) AS people FROM members GROUP BY ${columns})`,
  );
  const groups = await run(connection, sql`SELECT * FROM grouped WHERE rank <= ${limit} ORDER BY rank`);
  const members = sql`SELECT person, rank FROM members h JOIN grouped t ON ${sameGroup(keys)} WHERE rank <= ${limit}`;
  const rows = await run(connection, countCohorts(clause`JOIN ${members} USING (person)`, clause`rank,`));
  const [counted] = await run(connection, sql`SELECT count(*) AS groups FROM grouped`);
  const further = Number(counted?.groups) - groups.length;
  return {
    rows: groups.map((group, index) => ({
      values: valuesIn(group, keys),
      cohorts: toCohorts(rows.filter(({ rank }) => Number(rank) === index + 1)),
    })),
    ...(further > 0 && { others: { groups: further } }),
  };
};

/** How many people each cohort has, and how many of them came back in each period; `columns` of a table that is joined tell groups apart. */
const countCohorts = (joined: SQL = nothing, columns: SQL = nothing): SQL =>
  sql`SELECT ${columns} cohort, NULL AS period, count(*) AS people FROM cohorts ${joined} GROUP BY ALL
    UNION ALL
    SELECT ${columns} cohort, period, count(*) AS people FROM cohorts JOIN periods USING (person) ${joined}
    WHERE periods.back > cohorts.first GROUP BY ALL`;

export const answerRetention = async (
  connection: DuckDBConnection,
  source: Source,
  question: RetentionQuestion,
): Promise<RetentionAnswer> => {
  const { groups } = question;
  const starts = question.edges.slice(0, -1);
  await prepareCohorts(connection, source, question, groups);
  const toCohorts = (rows: readonly Row[]) => {
    const cohorts = starts.map((_, cohort) => ({ people: 0, back: new Array<number>(starts.length - cohort).fill(0) }));
    for (const { cohort, period, people } of rows) {
      const answer = cohorts[Number(cohort)] as (typeof cohorts)[number];
      if (period === null) answer.people = Number(people);
      else answer.back[Number(period) - Number(cohort)] = Number(people);
    }
    return cohorts;
  };
  return {
    cohorts: toCohorts(await run(connection, countCohorts())),
    ...(groups && (await answerGroups(connection, groups, toCohorts))),
  };
};
