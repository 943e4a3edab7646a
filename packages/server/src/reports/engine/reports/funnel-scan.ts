/**
 * Scans a funnel's events once, in the order in which they were stored (steps.ts). For most people, this order is
 * chronological.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, FunnelQuery, ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, nothing, type SQL, sql } from '../sql.ts';
import { runForNumbers } from '../statements.ts';
import { computeLookupBytes, createPersonLookup, holderOfEvent } from './person-lookup.ts';
import { createScope, type Sessions } from './scope.ts';
import { computeProgressBytes, createProgress, type Progress } from './steps.ts';

/** A report that involves funnel steps. */
export type FunnelSteps = ReportQuery & Pick<FunnelQuery, 'steps' | 'withinMilliseconds' | 'per'>;

/**
 * Returns a condition that matches any of the steps. If possible, it is a single list of eventIDs, which is faster than
 * several lists.
 */
const toAnyStep = (steps: readonly Condition[]): Condition =>
  steps.every((step) => 'eventIDs' in step)
    ? { eventIDs: [...new Set(steps.flatMap(({ eventIDs }) => eventIDs))] }
    : { or: steps };

/**
 * Builds a query that returns the events that match a step: `person`, `session` if there are sessions, `time`, `place`,
 * `step0`, …
 */
export const writeSteps = (source: Source, query: FunnelSteps, sessions: Sessions | null): SQL => {
  const scope = createScope(source, query);
  for (const [index, step] of query.steps.entries()) scope.add(`step${index}`, scope.meets(step));
  scope.add('time', sql`"eventTime"`);
  scope.add('place', scope.place);
  return scope.rows({ where: sql`${scope.matched} AND ${scope.meets(toAnyStep(query.steps))}`, sessions });
};

/** The maximum fraction of memory that the scan may take. */
const maxMemoryShare = 0.25;

/** The number of chunks after which to yield to the event loop, so that queries can start and be canceled. */
const chunksPerTurn = 4;

/**
 * Columns of events: holder, sequence, time, a bit for each step that the event matches, and the session if sessions
 * are the unit.
 */
type Chunk = readonly [Int32Array, Float64Array, Float64Array, Int32Array, Float64Array?];

const areInOrder = (chunks: readonly Chunk[]): boolean => {
  let last = 0;
  for (const [, sequences] of chunks)
    for (let row = 0; row < sequences.length; row += 1) {
      const sequence = sequences[row] as number;
      if (sequence < last) return false;
      last = sequence;
    }
  return true;
};

/** Returns each unit's progress; null if there are too many units to fit in memory. */
export const scanFunnel = async (
  connection: DuckDBConnection,
  source: Source,
  query: FunnelSteps,
  sessions: Sessions | null,
): Promise<Progress | null> => {
  const { steps, withinMilliseconds } = query;
  const units = sessions ?? { lowest: -source.bounds.user, highest: await source.highestContact(connection) };
  const bytes = computeProgressBytes(steps.length, units.highest - units.lowest + 1) + computeLookupBytes(source);
  if (bytes > maxMemoryShare * source.memoryBytes) return null;
  const progress = createProgress(steps.length, withinMilliseconds, units);
  const personOf = await createPersonLookup(connection, source);
  const parts = source.parts([]).length;
  let order = nothing;
  const read = (part: number) => {
    const ofPart = { ...source, select: (names: readonly string[]) => source.parts(names)[part] as SQL };
    const scope = createScope(ofPart, query);
    scope.add('holder', holderOfEvent);
    scope.add('sequence', sql`sequence`);
    scope.add('time', sql`"eventTime"`);
    // A bit for each step, the lowest for the first step.
    const bits = steps.map((step, index) => sql`${scope.meets(step)}::INTEGER * ${1 << index}`);
    scope.add('meets', sql`${list(bits, ' + ')}`);
    const where = sql`${scope.matched} AND ${scope.meets(toAnyStep(steps))}`;
    const session = sessions ? clause`, session::DOUBLE` : nothing;
    return runForNumbers(
      connection,
      sql`SELECT holder::INTEGER, sequence::DOUBLE, time::DOUBLE, meets${session}
        FROM ${scope.rows({ withPerson: false, where, sessions })} ${order}`,
    ) as Promise<unknown> as Promise<Chunk[]>;
  };
  let next = read(0);
  for (let part = 0; part < parts; part += 1) {
    let chunks = await next;
    // Sorts rows that are out of order: a file was rewritten without erased events, or the query has a join.
    if (!areInOrder(chunks)) {
      order = clause`ORDER BY sequence`;
      chunks = await read(part);
    }
    // Starts to read the next part, which DuckDB does in the background.
    if (part + 1 < parts) next = read(part + 1);
    // Handled here too, because the promise might reject before it is awaited.
    next.catch(() => {});
    for (const [index, [holders, sequences, times, met, ofSession]] of chunks.entries()) {
      if (index % chunksPerTurn === 0) await immediate();
      for (let row = 0; row < times.length; row += 1) {
        const person = personOf(holders[row] as number, sequences[row] as number);
        progress.addEvent(
          ofSession ? (ofSession[row] as number) : person,
          person,
          times[row] as number,
          met[row] as number,
        );
      }
    }
  }
  return progress;
};
