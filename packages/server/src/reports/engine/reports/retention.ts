/** Runs retention reports, which show in which later periods the people from each period came back. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Grouping, ReportQuery, RetentionQuery, RetentionResult } from '../../queries.ts';
import type { Source } from '../source.ts';
import { and, clause, list, name, nothing, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { writeMembers } from './funnel-steps.ts';
import { createGrid, isGridOf, valuesOfSpans } from './grid.ts';
import { prepareGroups, sameGroup, toKeys, toOrder, toValues } from './groups.ts';
import { createScope } from './scope.ts';

/**
 * Creates two temporary tables. `periods` has the places (scope.ts) of each person's first event that meets `first` and
 * last event that meets `back` in each period. `cohorts` has the period and place of each person's first event; with a
 * `grouping`, a third table, `members`, has that event's groups.
 */
export const prepareCohorts = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery & Pick<RetentionQuery, 'edges' | 'first' | 'back'>,
  grouping: Grouping | undefined,
): Promise<void> => {
  const { from, edges, first, back } = query;
  const starts = edges.slice(0, -1).map((edge, period) => [edge, period] as const);
  const grid = createGrid(from, edges.slice(1, -1));
  const hasEqualPeriods = isGridOf(grid, edges);
  const scope = createScope(source, query);
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
  const inPeriods = hasEqualPeriods
    ? sql`SELECT * EXCLUDE (span), span AS period FROM cells`
    : sql`SELECT person, value AS period, min(first) AS first, max(back) AS back FROM cells
        JOIN ${spans()} USING (span) GROUP BY person, value`;
  const kind = hasEqualPeriods ? clause`VIEW` : clause`TABLE`;
  await run(connection, sql`CREATE TEMP ${kind} periods AS ${inPeriods}`);
  await run(
    connection,
    sql`CREATE TEMP TABLE cohorts AS SELECT person, min(period) AS cohort, arg_min(first, period) AS first
      FROM periods WHERE first IS NOT NULL GROUP BY person`,
  );
  if (!grouping) return;
  const groups = await prepareGroups(connection, source, { ...query, ...grouping });
  const keys = toKeys(grouping.dimensions);
  await writeMembers(connection, groups, { unit: clause`person`, options: { person: true }, keys, first });
};

/** Returns the cohorts in the first groups, and the number of other groups. */
const computeGroups = async (
  connection: DuckDBConnection,
  { dimensions, limit }: NonNullable<RetentionQuery['groups']>,
  toCohorts: (rows: readonly Row[]) => RetentionResult['cohorts'],
): Promise<Pick<RetentionResult, 'rows' | 'others'>> => {
  const keys = toKeys(dimensions);
  const columns = list(keys.map(name));
  await run(
    connection,
    sql`CREATE TEMP TABLE grouped AS SELECT *, row_number() OVER (ORDER BY people DESC, ${toOrder(keys)}) AS rank
      FROM (SELECT ${columns}, count(*) AS people FROM members GROUP BY ${columns})`,
  );
  const groups = await run(connection, sql`SELECT * FROM grouped WHERE rank <= ${limit} ORDER BY rank`);
  const members = sql`SELECT person, rank FROM members h JOIN grouped t ON ${sameGroup(keys)} WHERE rank <= ${limit}`;
  const rows = await run(connection, countCohorts(clause`JOIN ${members} USING (person)`, clause`rank,`));
  const [countRow] = await run(connection, sql`SELECT count(*) AS groups FROM grouped`);
  const otherGroups = Number(countRow?.groups) - groups.length;
  return {
    rows: groups.map((group, index) => ({
      values: toValues(group, keys),
      cohorts: toCohorts(rows.filter(({ rank }) => Number(rank) === index + 1)),
    })),
    ...(otherGroups > 0 && { others: { groups: otherGroups } }),
  };
};

/**
 * Counts the people in each cohort, and the people who came back in each period, grouped by the `columns` of the table
 * in `join`.
 */
const countCohorts = (join: SQL = nothing, columns: SQL = nothing): SQL =>
  sql`SELECT ${columns} cohort, NULL AS period, count(*) AS people FROM cohorts ${join} GROUP BY ALL
    UNION ALL
    SELECT ${columns} cohort, period, count(*) AS people FROM cohorts JOIN periods USING (person) ${join}
    WHERE periods.back > cohorts.first GROUP BY ALL`;

export const computeRetention = async (
  connection: DuckDBConnection,
  source: Source,
  query: RetentionQuery,
): Promise<RetentionResult> => {
  const { groups } = query;
  const starts = query.edges.slice(0, -1);
  await prepareCohorts(connection, source, query, groups);
  const toCohorts = (rows: readonly Row[]) => {
    const cohorts = starts.map((_, cohort) => ({ people: 0, back: new Array<number>(starts.length - cohort).fill(0) }));
    for (const { cohort, period, people } of rows) {
      const counts = cohorts[Number(cohort)] as (typeof cohorts)[number];
      if (period === null) counts.people = Number(people);
      else counts.back[Number(period) - Number(cohort)] = Number(people);
    }
    return cohorts;
  };
  return {
    cohorts: toCohorts(await run(connection, countCohorts())),
    ...(groups && (await computeGroups(connection, groups, toCohorts))),
  };
};
