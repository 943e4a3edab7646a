/**
 * Computes which funnel steps each unit (a person, or a person within one session) reached. Uses the scan
 * (funnel-scan.ts) and, for units that the scan excludes, running maxima over their sorted events.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, FunnelQuery, FunnelResult, Grouping } from '../../queries.ts';
import type { Source } from '../source.ts';
import { and, clause, integers, list, name, nothing, type SQL, sql } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { type FunnelSteps, scanFunnel, writeSteps } from './funnel-scan.ts';
import { type PreparedGroups, prepareGroups, toKeys } from './groups.ts';
import type { HitOptions, Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';

/** Returns the columns that identify a unit. */
export const unitOf = ({ per }: Pick<FunnelQuery, 'per'>): SQL =>
  per === 'session' ? clause`person, session` : clause`person`;

/**
 * Builds a query that returns the units in the funnel: `person`, `session` if there are sessions, whether each step was
 * reached (`reached0`, …), and the time to each step after the first (`took1`, …; NULL if not reached). `only`
 * restricts the units.
 */
export const writeReachedSteps = (
  source: Source,
  query: FunnelSteps,
  { sessions, only }: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): SQL => {
  const { steps, withinMilliseconds } = query;
  const unit = unitOf(query);
  const some = only ? clause`WHERE ${name(query.per)} IN (SELECT unnest(${integers(only)}))` : nothing;
  const rows = sql`SELECT * FROM ${writeSteps(source, query, sessions)} ${some}`;
  const before = clause`OVER (PARTITION BY ${unit} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  let walk = sql`SELECT *, CASE WHEN step0 THEN time END AS begun0 FROM ${rows}`;
  for (let step = 1; step < steps.length; step += 1) {
    const [met, possible, begun] = [name(`step${step}`), name(`possible${step}`), name(`begun${step}`)];
    walk = sql`SELECT *, CASE WHEN ${met} AND time - ${possible} <= ${withinMilliseconds} THEN ${possible} END AS ${begun}
      FROM (SELECT *, max(${name(`begun${step - 1}`)}) ${before} AS ${possible} FROM ${walk})`;
  }
  const reached = steps.map((_, step) => {
    const begun = name(`begun${step}`);
    const took = clause`, arg_min(time - ${begun}, place) AS ${name(`took${step}`)}`;
    return clause`count(${begun}) > 0 AS ${name(`reached${step}`)} ${step > 0 ? took : nothing}`;
  });
  return sql`SELECT ${unit}, ${list(reached)} FROM ${walk} GROUP BY ${unit}`;
};

/** Returns the number of units that reached each step. */
export const stepCountsOf = ({ steps }: FunnelSteps): SQL =>
  list(steps.map((_, step) => clause`count_if(${name(`reached${step}`)}) AS ${name(`people${step}`)}`));
export const readStepCounts = ({ steps }: FunnelSteps, row: Row | undefined): number[] =>
  steps.map((_, step) => Number(row?.[`people${step}`]));

/** Returns statistics on the time taken to reach each step. */
export const timesOf = ({ steps }: FunnelSteps): SQL =>
  list(
    steps.slice(1).map((_, index) => {
      const took = name(`took${index + 1}`);
      return clause`avg(${took}) AS ${name(`average${index}`)}, quantile_cont(${took}, 0.5) AS ${name(`median${index}`)},
        quantile_cont(${took}, 0.95) AS ${name(`p95${index}`)}`;
    }),
  );
export const readTimes = ({ steps }: FunnelSteps, row: Row | undefined): NonNullable<FunnelResult['times']> =>
  steps.slice(1).map((_, index) => {
    const figures = ['average', 'median', 'p95'].map((figure) => row?.[`${figure}${index}`] ?? null);
    if (figures[0] === null) return null;
    const [average, median, p95] = figures.map(Number) as [number, number, number];
    return { average, median, p95 };
  });

/**
 * Creates the temporary table `members` of units and their groups. A unit's groups are those of its first event that
 * meets the condition `first`. `unit` lists the columns that identify a unit.
 */
export const writeMembers = async (
  connection: DuckDBConnection,
  { write }: PreparedGroups,
  {
    unit,
    options,
    keys,
    first,
  }: {
    readonly unit: SQL;
    readonly options: HitOptions;
    readonly keys: readonly string[];
    readonly first: Condition | null;
  },
): Promise<void> => {
  const columns = list(keys.map(name));
  const events = write(options, (scope) => ({
    place: scope.place,
    begins: first === null ? and([]) : scope.meets(first),
  }));
  await run(
    connection,
    sql`CREATE TEMP TABLE members AS
      WITH starts AS MATERIALIZED (SELECT ${unit}, ${columns}, place FROM ${events} WHERE begins)
      SELECT ${unit}, ${columns} FROM starts
      JOIN (SELECT ${unit}, min(place) AS place FROM starts GROUP BY ${unit}) USING (${unit}, place)`,
  );
};

/**
 * Creates the temporary table `reached` of units and the steps that they reached. With a `grouping`, also creates the
 * table `members` of units and their groups.
 */
export const prepareReachedSteps = async (
  connection: DuckDBConnection,
  source: Source,
  query: FunnelSteps,
  grouping: Grouping | undefined,
): Promise<void> => {
  const groups = grouping && (await prepareGroups(connection, source, { ...query, ...grouping }));
  const bySession = query.per === 'session';
  const sessions = bySession ? (groups?.sessions ?? (await prepareSessions(connection, source, query))) : null;
  const progress = await scanFunnel(connection, source, query, sessions);
  const only = progress ? [...progress.irregular] : undefined;
  const parts: SQL[] = [];
  if (progress) {
    const { units, people, reached, took } = progress.ends();
    const tooks = took.map((_, index) => name(`took${index + 1}`));
    await run(
      connection,
      sql`CREATE TEMP TABLE walked (session BIGINT, person BIGINT, steps BIGINT, ${list(tooks.map((column) => clause`${column} BIGINT`))})`,
    );
    appendIntegers(await connection.createAppender('walked', 'main', 'temp'), [units, people, reached, ...took]);
    const columns = query.steps.map((_, step) => {
      const reachedColumn = clause`steps > ${step} AS ${name(`reached${step}`)}`;
      return step === 0
        ? reachedColumn
        : clause`${reachedColumn}, nullif(${name(`took${step}`)}, -1) AS ${name(`took${step}`)}`;
    });
    parts.push(sql`SELECT ${unitOf(query)}, ${list(columns)} FROM walked`);
  }
  if (only === undefined || only.length > 0)
    parts.push(writeReachedSteps(source, query, { sessions, ...(only && { only }) }));
  await run(connection, sql`CREATE TEMP TABLE reached AS ${list(parts, ' UNION ALL ')}`);
  if (!grouping || !groups) return;
  const [first] = query.steps as [Condition];
  await writeMembers(connection, groups, {
    unit: unitOf(query),
    options: { person: true, session: bySession },
    keys: toKeys(grouping.dimensions),
    first,
  });
};
