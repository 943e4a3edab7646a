/** Breakdowns: the measures of groups of events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownAnswer, BreakdownQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runWith } from '../values.ts';
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
  const order = `${sort} DESC, ${inOrderOf(keys)}`;
  const { total, rows, further, others } = await countFirstGroups(connection, source, question, {
    keys,
    sessions,
    bySession,
    hits: (values, wanted) => write(values, wanted),
    ...(isRepeated && { once: (values, wanted) => write(values, { ...wanted, once: true }) }),
  });
  const ranked = `SELECT *, row_number() OVER (ORDER BY ${order}) AS rank FROM first`;
  const valued =
    value === null
      ? null
      : await runWith(connection, (values) => {
          const numbered = write(values, { sequence: true }, (scope) => ({ number: scope.number(value) }));
          const found = `SELECT sequence, number, rank FROM (${numbered}) h LEFT JOIN (${ranked}) t ON ${sameGroup(keys)}
            WHERE number IS NOT NULL`;
          return isRepeated
            ? `WITH found AS MATERIALIZED (${found}),
                once AS (SELECT any_value(number) AS number, max(rank) AS rank FROM found GROUP BY sequence)
              SELECT rank, 0 AS total, ${summedUp} FROM found WHERE rank IS NOT NULL GROUP BY rank
              UNION ALL SELECT NULL, 1, ${summedUp} FROM once
              UNION ALL SELECT NULL, 0, ${summedUp} FROM once WHERE rank IS NULL`
            : `SELECT rank, GROUPING(rank)::INTEGER AS total, ${summedUp} FROM (${found}) GROUP BY GROUPING SETS ((), (rank))`;
        });
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
