/**
 * Runs funnel reports. Most people's events are stored in chronological order, so a single scan suffices
 * (funnel-scan.ts). DuckDB sorts other people's events, or everyone's if there are too many people to fit in memory
 * (funnel-steps.ts).
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FunnelQuery, FunnelResult } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, name, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { scanFunnel } from './funnel-scan.ts';
import {
  prepareReachedSteps,
  readStepCounts,
  readTimes,
  stepCountsOf,
  timesOf,
  unitOf,
  writeReachedSteps,
} from './funnel-steps.ts';
import { sameGroup, toKeys, toOrder, toValues } from './groups.ts';
import type { Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';

const countInOrder = async (
  connection: DuckDBConnection,
  source: Source,
  query: FunnelQuery,
  units: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): Promise<number[]> => {
  const [row] = await run(
    connection,
    sql`SELECT ${stepCountsOf(query)} FROM ${writeReachedSteps(source, query, units)}`,
  );
  return readStepCounts(query, row);
};

/** Reads the result from the table `reached`, which has a row for each unit. */
const computeInTables = async (
  connection: DuckDBConnection,
  source: Source,
  query: FunnelQuery,
): Promise<FunnelResult> => {
  const { groups, times } = query;
  await prepareReachedSteps(connection, source, query, groups);
  const figures = times ? clause`${stepCountsOf(query)}, ${timesOf(query)}` : stepCountsOf(query);
  const toFigures = (row: Row | undefined) => ({
    steps: readStepCounts(query, row),
    ...(times && { times: readTimes(query, row) }),
  });
  const [total] = await run(connection, sql`SELECT ${figures} FROM reached`);
  if (!groups) return toFigures(total);
  const [unit, keys] = [unitOf(query), toKeys(groups.dimensions)];
  const order = clause`ORDER BY people0 DESC, ${toOrder(keys)} LIMIT ${groups.limit}`;
  await run(
    connection,
    sql`CREATE TEMP TABLE grouped AS SELECT ${list(keys.map(name))}, ${figures} FROM members JOIN reached USING (${unit}) GROUP BY ALL`,
  );
  await run(connection, sql`CREATE TEMP TABLE first AS SELECT * FROM grouped ${order}`);
  const rows = await run(connection, sql`SELECT * FROM first ${order}`);
  const [countRow] = await run(connection, sql`SELECT count(*) AS groups FROM grouped`);
  const otherGroups = Number(countRow?.groups) - rows.length;
  const [others] =
    otherGroups === 0
      ? []
      : await run(
          connection,
          sql`SELECT ${stepCountsOf(query)} FROM reached
            ANTI JOIN (SELECT ${unit} FROM members h SEMI JOIN first t ON ${sameGroup(keys)}) USING (${unit})`,
        );
  return {
    ...toFigures(total),
    rows: rows.map((row) => ({ values: toValues(row, keys), ...toFigures(row) })),
    ...(otherGroups > 0 && { others: { groups: otherGroups, steps: readStepCounts(query, others) } }),
  };
};

export const computeFunnel = async (
  connection: DuckDBConnection,
  source: Source,
  query: FunnelQuery,
): Promise<FunnelResult> => {
  if (query.groups || query.times) return computeInTables(connection, source, query);
  const sessions = query.per === 'session' ? await prepareSessions(connection, source, query) : null;
  const progress = await scanFunnel(connection, source, query, sessions);
  if (progress === null) return { steps: await countInOrder(connection, source, query, { sessions }) };
  const [counts, irregular] = [progress.counts(), [...progress.irregular]];
  if (irregular.length === 0) return { steps: counts };
  const others = await countInOrder(connection, source, query, { sessions, only: irregular });
  return { steps: counts.map((count, step) => count + (others[step] as number)) };
};
