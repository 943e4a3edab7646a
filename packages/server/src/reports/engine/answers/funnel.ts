/**
 * Funnels. Most people's events are stored in the order of their times: they are walked through once (steps.ts). Those of the others, and of
 * all if there are too many people for the memory, are put in order by DuckDB.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FunnelAnswer, FunnelQuestion, Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runForNumbers, runWith, type Values } from '../values.ts';
import { createScope, type Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';
import { bytesOfProgress, createProgress } from './steps.ts';

/** The part of the memory that the walk may take. */
const mostOfMemory = 0.25;

/** Columns of events: person, time, which steps they meet, and the session if that is the unit. */
type Chunk = readonly [Float64Array, Float64Array, Int32Array, Float64Array?];

/** A question about the steps of a funnel. */
type FunnelSteps = Question & Pick<FunnelQuestion, 'steps' | 'withinMilliseconds'>;

/** A query of the events that meet a step, with `meets` as the walk takes it. */
const writeSteps = (source: Source, question: FunnelSteps, values: Values, sessions: Sessions | null) => {
  const scope = createScope(source, question, values);
  const meets = question.steps.map((step) => scope.meets(step));
  for (const [index, sql] of meets.entries()) scope.add(`step${index}`, sql);
  scope.add('time', '"eventTime"');
  scope.add('sequence', 'sequence');
  return scope.rows({ where: `${scope.matched} AND (${meets.join(' OR ')})`, sessions });
};

/** Returns the counts of the steps, and the units that it could not count; null: there are too many. */
const walk = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
  sessions: Sessions | null,
): Promise<{ counts: number[]; irregular: readonly number[] } | null> => {
  const { steps, withinMilliseconds } = question;
  const units = sessions ?? { lowest: -source.bounds.user, greatest: await source.greatestContact(connection) };
  if (bytesOfProgress(steps.length, units.greatest - units.lowest + 1) > mostOfMemory * source.memoryBytes) return null;
  const progress = createProgress(steps.length, withinMilliseconds, units);
  const bits = steps.map((_, step) => `step${step}::INTEGER * ${1 << step}`).join(' + ');
  const parts = source.parts([]).length;
  const start = (part: number) => {
    const ofPart = { ...source, select: (names: readonly string[]) => source.parts(names)[part] as string };
    return runForNumbers(
      connection,
      (values) => `SELECT person::DOUBLE, time::DOUBLE, ${bits} ${sessions ? ', session::DOUBLE' : ''}
        FROM (${writeSteps(ofPart, question, values, sessions)}) ORDER BY sequence`,
    );
  };
  let next = start(0);
  for (let part = 1; part <= parts; part += 1) {
    const chunks = (await next) as AsyncGenerator<Chunk>;
    // DuckDB reads the next part meanwhile.
    if (part < parts) next = start(part);
    for await (const [persons, times, met, unit = persons] of chunks)
      for (let row = 0; row < times.length; row += 1)
        progress.tell(unit[row] as number, persons[row] as number, times[row] as number, met[row] as number);
  }
  return { counts: progress.counts(), irregular: [...progress.irregular] };
};

/**
 * A query of the units in the funnel and the steps that each reached (`person`, `session` if there are sessions, `reached0`, …), by running
 * maxima over the events of each unit in their order. `only`: of these units, else of all.
 */
export const writeReached = (
  source: Source,
  question: FunnelSteps,
  values: Values,
  { sessions, only }: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): string => {
  const { steps, withinMilliseconds } = question;
  const who = sessions ? 'person, session' : 'person';
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

const countInOrder = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
  units: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): Promise<number[]> => {
  const sums = question.steps.map((_, step) => `count_if(reached${step}) AS people${step}`);
  const [row] = await runWith(
    connection,
    (values) => `SELECT ${sums.join(', ')} FROM (${writeReached(source, question, values, units)})`,
  );
  return question.steps.map((_, step) => Number(row?.[`people${step}`]));
};

export const answerFunnel = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
): Promise<FunnelAnswer> => {
  const sessions = question.per === 'session' ? await prepareSessions(connection, source, question) : null;
  const walked = await walk(connection, source, question, sessions);
  if (walked === null) return { steps: await countInOrder(connection, source, question, { sessions }) };
  const { counts, irregular } = walked;
  if (irregular.length === 0) return { steps: counts };
  const others = await countInOrder(connection, source, question, { sessions, only: irregular });
  return { steps: counts.map((count, step) => count + (others[step] as number)) };
};
