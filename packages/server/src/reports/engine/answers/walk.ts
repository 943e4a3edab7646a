/**
 * Walks through the events of a funnel once, in the order in which they were stored, which is that of their times for most people (steps.ts).
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FunnelQuestion, Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runForNumbers, type Values } from '../values.ts';
import { createScope, type Sessions } from './scope.ts';
import { bytesOfProgress, createProgress, type Progress } from './steps.ts';

/** A question about the steps of a funnel. */
export type FunnelSteps = Question & Pick<FunnelQuestion, 'steps' | 'withinMilliseconds' | 'per'>;

/** A query of the events that meet a step, with `meets` as the walk takes it. */
export const writeSteps = (source: Source, question: FunnelSteps, values: Values, sessions: Sessions | null) => {
  const scope = createScope(source, question, values);
  const meets = question.steps.map((step) => scope.meets(step));
  for (const [index, sql] of meets.entries()) scope.add(`step${index}`, sql);
  scope.add('time', '"eventTime"');
  scope.add('sequence', 'sequence');
  return scope.rows({ where: `${scope.matched} AND (${meets.join(' OR ')})`, sessions });
};

/** The part of the memory that the walk may take. */
const mostOfMemory = 0.25;

/** Columns of events: person, time, which steps they meet, and the session if that is the unit. */
type Chunk = readonly [Float64Array, Float64Array, Int32Array, Float64Array?];

/** Returns how far the units have come; null: there are too many. */
export const walk = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelSteps,
  sessions: Sessions | null,
): Promise<Progress | null> => {
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
  return progress;
};
