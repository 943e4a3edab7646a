/**
 * Funnels. Most people's events are stored in the order of their times: they are walked through once (steps.ts). Those of the others, and of
 * all if there are too many people for the memory, are put in order by DuckDB.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FunnelAnswer, FunnelQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runForNumbers, runSQL, runWith } from '../values.ts';
import { inOrderOf, keysOf, sameGroup, valuesIn } from './groups.ts';
import { prepareReached, readSums, sumsOf, unitOf, writeReached, writeSteps } from './reached.ts';
import type { Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';
import { bytesOfProgress, createProgress } from './steps.ts';

/** The part of the memory that the walk may take. */
const mostOfMemory = 0.25;

/** Columns of events: person, time, which steps they meet, and the session if that is the unit. */
type Chunk = readonly [Float64Array, Float64Array, Int32Array, Float64Array?];

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

const countInOrder = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
  units: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): Promise<number[]> => {
  const [row] = await runWith(
    connection,
    (values) => `SELECT ${sumsOf(question)} FROM (${writeReached(source, question, values, units)})`,
  );
  return readSums(question, row);
};

const answerGroups = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
  groups: NonNullable<FunnelQuestion['groups']>,
): Promise<FunnelAnswer> => {
  await prepareReached(connection, source, question, groups);
  const [unit, keys] = [unitOf(question), keysOf(groups.dimensions)];
  const order = `ORDER BY people0 DESC, ${inOrderOf(keys)} LIMIT ${groups.limit}`;
  await runSQL(
    connection,
    `CREATE TEMP TABLE grouped AS SELECT ${keys.join(', ')}, ${sumsOf(question)} FROM members JOIN reached USING (${unit}) GROUP BY ALL`,
  );
  await runSQL(connection, `CREATE TEMP TABLE first AS SELECT * FROM grouped ${order}`);
  const rows = await runSQL(connection, `SELECT * FROM first ${order}`);
  const [total] = await runSQL(connection, `SELECT ${sumsOf(question)} FROM reached`);
  const [counted] = await runSQL(connection, 'SELECT count(*) AS groups FROM grouped');
  const further = Number(counted?.groups) - rows.length;
  const [others] =
    further === 0
      ? []
      : await runSQL(
          connection,
          `SELECT ${sumsOf(question)} FROM reached
            ANTI JOIN (SELECT ${unit} FROM members h SEMI JOIN first t ON ${sameGroup(keys)}) USING (${unit})`,
        );
  return {
    steps: readSums(question, total),
    rows: rows.map((row) => ({
      values: valuesIn(row, keys),
      steps: readSums(question, row),
    })),
    ...(further > 0 && { others: { groups: further, steps: readSums(question, others) } }),
  };
};

export const answerFunnel = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
): Promise<FunnelAnswer> => {
  if (question.groups) return answerGroups(connection, source, question, question.groups);
  const sessions = question.per === 'session' ? await prepareSessions(connection, source, question) : null;
  const walked = await walk(connection, source, question, sessions);
  if (walked === null) return { steps: await countInOrder(connection, source, question, { sessions }) };
  const { counts, irregular } = walked;
  if (irregular.length === 0) return { steps: counts };
  const others = await countInOrder(connection, source, question, { sessions, only: irregular });
  return { steps: counts.map((count, step) => count + (others[step] as number)) };
};
