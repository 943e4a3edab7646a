/**
 * Which steps of a funnel each unit reached: a person, or a person within one session. From the walk (walk.ts) and, for units that it leaves
 * out, by running maxima over their events in order.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, FunnelQuestion, Grouping } from '../../questions.ts';
import type { Source } from '../account.ts';
import { clause, integers, list, name, nothing, type SQL, sql } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { keysOf, prepareGroups } from './groups.ts';
import type { Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';
import { type FunnelSteps, walk, writeSteps } from './walk.ts';

/** The columns of a unit. */
export const unitOf = ({ per }: Pick<FunnelQuestion, 'per'>): SQL =>
  per === 'session' ? clause`person, session` : clause`person`;

/**
 * A query of the units in the funnel and the steps that each reached: `person`, `session` if there are sessions, `reached0`, …; `only` of
 * these units, else of all.
 */
export const writeReached = (
  source: Source,
  question: FunnelSteps,
  { sessions, only }: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): SQL => {
  const { steps, withinMilliseconds } = question;
  const who = unitOf(question);
  const some = only ? clause`WHERE ${name(question.per)} IN (SELECT unnest(${integers(only)}))` : nothing;
  const rows = sql`SELECT * FROM ${writeSteps(source, question, sessions)} ${some}`;
  const before = clause`OVER (PARTITION BY ${who} ORDER BY time, sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  let query = sql`SELECT *, CASE WHEN step0 THEN time END AS begun0 FROM ${rows}`;
  for (let step = 1; step < steps.length; step += 1) {
    const [met, possible, begun] = [name(`step${step}`), name(`possible${step}`), name(`begun${step}`)];
    query = sql`SELECT *, CASE WHEN ${met} AND time - ${possible} <= ${withinMilliseconds} THEN ${possible} END AS ${begun}
      FROM (SELECT *, max(${name(`begun${step - 1}`)}) ${before} AS ${possible} FROM ${query})`;
  }
  const reached = steps.map((_, step) => clause`count(${name(`begun${step}`)}) > 0 AS ${name(`reached${step}`)}`);
  return sql`SELECT ${who}, ${list(reached)} FROM ${query} GROUP BY ${who}`;
};

/** How many units reached each step. */
export const sumsOf = ({ steps }: FunnelSteps): SQL =>
  list(steps.map((_, step) => clause`count_if(${name(`reached${step}`)}) AS ${name(`people${step}`)}`));
export const readSums = ({ steps }: FunnelSteps, row: Row | undefined): number[] =>
  steps.map((_, step) => Number(row?.[`people${step}`]));

/**
 * Makes the temporary table `reached`, of the units and the steps that each reached, and with a `grouping` the table `members`, of the units and
 * their groups.
 */
export const prepareReached = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelSteps,
  grouping: Grouping | undefined,
): Promise<void> => {
  const groups = grouping && (await prepareGroups(connection, source, { ...question, ...grouping }));
  const bySession = question.per === 'session';
  const sessions = bySession ? (groups?.sessions ?? (await prepareSessions(connection, source, question))) : null;
  const progress = await walk(connection, source, question, sessions);
  const only = progress ? [...progress.irregular] : undefined;
  const parts: SQL[] = [];
  if (progress) {
    await run(connection, sql`CREATE TEMP TABLE walked (session BIGINT, person BIGINT, steps BIGINT)`);
    const { units, people, reached } = progress.ends();
    appendIntegers(await connection.createAppender('walked', 'main', 'temp'), [units, people, reached]);
    const columns = question.steps.map((_, step) => clause`steps > ${step} AS ${name(`reached${step}`)}`);
    parts.push(sql`SELECT ${unitOf(question)}, ${list(columns)} FROM walked`);
  }
  if (only === undefined || only.length > 0)
    parts.push(writeReached(source, question, { sessions, ...(only && { only }) }));
  await run(connection, sql`CREATE TEMP TABLE reached AS ${list(parts, ' UNION ALL ')}`);
  if (!grouping || !groups) return;
  const [first] = question.steps as [Condition];
  const [unit, keys] = [unitOf(question), list(keysOf(grouping.dimensions).map(name))];
  const wanted = { person: true, session: bySession };
  const events = groups.write(wanted, (scope) => ({ place: scope.place, begins: scope.meets(first) }));
  await run(
    connection,
    sql`CREATE TEMP TABLE members AS
      WITH starts AS MATERIALIZED (SELECT ${unit}, ${keys}, place FROM ${events} WHERE begins)
      SELECT ${unit}, ${keys} FROM starts
      JOIN (SELECT ${unit}, min(place) AS place FROM starts GROUP BY ${unit}) USING (${unit}, place)`,
  );
};
