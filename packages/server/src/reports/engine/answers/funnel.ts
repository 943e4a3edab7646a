/**
 * Funnels. Most people's events are stored in the order of their times: they are walked through once (walk.ts). Those of the others, and of
 * all if there are too many people for the memory, are put in order by DuckDB (reached.ts).
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FunnelAnswer, FunnelQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { clause, list, name, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { inOrderOf, keysOf, sameGroup, valuesIn } from './groups.ts';
import { prepareReached, readSums, sumsOf, unitOf, writeReached } from './reached.ts';
import type { Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';
import { walk } from './walk.ts';

const countInOrder = async (
  connection: DuckDBConnection,
  source: Source,
  question: FunnelQuestion,
  units: { readonly sessions: Sessions | null; readonly only?: readonly number[] },
): Promise<number[]> => {
  const [row] = await run(connection, sql`SELECT ${sumsOf(question)} FROM ${writeReached(source, question, units)}`);
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
  const order = clause`ORDER BY people0 DESC, ${inOrderOf(keys)} LIMIT ${groups.limit}`;
  await run(
    connection,
    sql`CREATE TEMP TABLE grouped AS SELECT ${list(keys.map(name))}, ${sumsOf(question)} FROM members JOIN reached USING (${unit}) GROUP BY ALL`,
  );
  await run(connection, sql`CREATE TEMP TABLE first AS SELECT * FROM grouped ${order}`);
  const rows = await run(connection, sql`SELECT * FROM first ${order}`);
  const [total] = await run(connection, sql`SELECT ${sumsOf(question)} FROM reached`);
  const [counted] = await run(connection, sql`SELECT count(*) AS groups FROM grouped`);
  const further = Number(counted?.groups) - rows.length;
  const [others] =
    further === 0
      ? []
      : await run(
          connection,
          sql`SELECT ${sumsOf(question)} FROM reached
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
  const progress = await walk(connection, source, question, sessions);
  if (progress === null) return { steps: await countInOrder(connection, source, question, { sessions }) };
  const [counts, irregular] = [progress.counts(), [...progress.irregular]];
  if (irregular.length === 0) return { steps: counts };
  const others = await countInOrder(connection, source, question, { sessions, only: irregular });
  return { steps: counts.map((count, step) => count + (others[step] as number)) };
};
