/** Breakdowns: the measures of groups of events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownAnswer, BreakdownQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { clause, name, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { countFirstGroups } from './first-groups.ts';
import { inOrderOf, keysOf, prepareGroups, sameGroup, valuesIn } from './groups.ts';
import { summedUp, toMeasures } from './measures.ts';

export const answerBreakdown = async (
  connection: DuckDBConnection,
  source: Source,
  question: BreakdownQuestion,
): Promise<BreakdownAnswer> => {
  const { dimensions, value, sort } = question;
  const { sessions, write, isRepeated, bySession } = await prepareGroups(connection, source, question);
  const keys = keysOf(dimensions);
  const order = clause`${name(sort)} DESC, ${inOrderOf(keys)}`;
  const { total, rows, further, others } = await countFirstGroups(connection, source, question, {
    keys,
    sessions,
    bySession,
    hits: (wanted) => write(wanted),
    ...(isRepeated && { once: (wanted) => write({ ...wanted, once: true }) }),
  });
  const ranked = sql`SELECT *, row_number() OVER (ORDER BY ${order}) AS rank FROM first`;
  const sumUp = (attrID: string) => {
    const numbered = write({ sequence: true }, (scope) => ({ number: scope.number(attrID) }));
    const found = sql`SELECT sequence, number, rank FROM ${numbered} h LEFT JOIN ${ranked} t ON ${sameGroup(keys)}
      WHERE number IS NOT NULL`;
    return run(
      connection,
      isRepeated
        ? sql`WITH found AS MATERIALIZED ${found},
            once AS (SELECT any_value(number) AS number, max(rank) AS rank FROM found GROUP BY sequence)
          SELECT rank, 0 AS total, ${summedUp} FROM found WHERE rank IS NOT NULL GROUP BY rank
          UNION ALL SELECT NULL, 1, ${summedUp} FROM once
          UNION ALL SELECT NULL, 0, ${summedUp} FROM once WHERE rank IS NULL`
        : sql`SELECT rank, GROUPING(rank)::INTEGER AS total, ${summedUp} FROM ${found} GROUP BY GROUPING SETS ((), (rank))`,
    );
  };
  const valued = value === null ? null : await sumUp(value);
  const valuedOf = (rank: number | null, ofTotal = 0) =>
    valued === null
      ? null
      : valued.find((row) => row.total === ofTotal && (row.rank === null ? null : Number(row.rank)) === rank);
  return {
    total: toMeasures(total, valuedOf(null, 1)),
    rows: rows.map((row, index) => ({
      values: valuesIn(row, keys),
      ...toMeasures(row, valuedOf(index + 1)),
    })),
    others: further === 0 ? null : { groups: further, ...toMeasures(others, valuedOf(null)) },
  };
};
