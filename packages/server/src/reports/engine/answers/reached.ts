/**
 * Which steps of a funnel each unit reached: a person, or a person within one session. From the walk (walk.ts) and, for units that it leaves
 * out, by running maxima over their events in order.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, FunnelQuestion, Grouping } from '../../questions.ts';
import type { Source } from '../account.ts';
import { appendIntegers, type Row, runSQL, runWith, type Values } from '../values.ts';
import { keysOf, prepareGroups } from './groups.ts';
import type { Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';
import { type FunnelSteps, walk, writeSteps } from './walk.ts';

/** The columns of a unit. */
export const unitOf = ({ per }: Pick<FunnelQuestion, 'per'>): string =>
  per === 'session' ? 'person, session' : 'person';

/**
 * A query of the units in the funnel and the steps that each reached: `person`, `session` if there are sessions, `reached0`, …; `only` of
 * these units, else of all.
 */
export const writeReached = (
  source: Source,
  question: FunnelSteps,
  values: Values,
  { sessions, only }: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): string => {
  const { steps, withinMilliseconds } = question;
  const who = unitOf(question);
  const some = only ? `WHERE ${sessions ? 'session' : 'person'} IN (SELECT unnest(${values.integers(only)}))` : '';
  const rows = `SELECT * FROM (${writeSteps(source, question, values, sessions)}) ${some}`;
  const within = values.integer(withinMilliseconds);
  const before = `OVER (PARTITION BY ${who} ORDER BY time, sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  let query = `SELECT *, CASE WHEN step0 THEN time END AS begun0 FROM (${rows})`;
  for (let step = 1; step < steps.length; step += 1) {
    const begun = `SELECT *, max(begun${step - 1}) ${before} AS possible${step} FROM (${query})`;
    query = `SELECT *, CASE WHEN step${step} AND time - possible${step} <= ${within} THEN possible${step} END AS begun${step} FROM (${begun})`;
  }
  const reached = steps.map((_, step) => `count(begun${step}) > 0 AS reached${step}`);
  return `SELECT ${who}, ${reached.join(', ')} FROM (${query}) GROUP BY ${who}`;
};

/** How many units reached each step. */
export const sumsOf = ({ steps }: FunnelSteps): string =>
  steps.map((_, step) => `count_if(reached${step}) AS people${step}`).join(', ');
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
  const parts: ((values: Values) => string)[] = [];
  if (progress) {
    await runSQL(connection, 'CREATE TEMP TABLE walked (session BIGINT, person BIGINT, steps BIGINT)');
    const { units, people, reached } = progress.ends();
    appendIntegers(await connection.createAppender('walked', 'main', 'temp'), [units, people, reached]);
    const columns = question.steps.map((_, step) => `steps > ${step} AS reached${step}`).join(', ');
    parts.push(() => `SELECT ${unitOf(question)}, ${columns} FROM walked`);
  }
  if (only === undefined || only.length > 0)
    parts.push((values) => writeReached(source, question, values, { sessions, ...(only && { only }) }));
  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE reached AS ${parts.map((part) => part(values)).join(' UNION ALL ')}`,
  );
  if (!grouping || !groups) return;
  const [first] = question.steps as [Condition];
  const [unit, keys] = [unitOf(question), keysOf(grouping.dimensions)];
  await runWith(connection, (values) => {
    const wanted = { person: true, session: bySession };
    const events = groups.write(values, wanted, (scope) => ({ place: scope.place, begins: scope.meets(first) }));
    return `CREATE TEMP TABLE members AS
      WITH starts AS MATERIALIZED (SELECT ${unit}, ${keys.join(', ')}, place FROM (${events}) WHERE begins)
      SELECT ${unit}, ${keys.join(', ')} FROM starts
      JOIN (SELECT ${unit}, min(place) AS place FROM starts GROUP BY ${unit}) USING (${unit}, place)`;
  });
};
