/** Totals: the measures of all events, and of those in each interval. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sessionPauseMilliseconds, type TotalsAnswer, type TotalsQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { countGroups, type WriteHits } from './counting.ts';
import { describeVisits } from './described-visits.ts';
import { prepareIntervals } from './intervals.ts';
import { summedUp, toMeasures } from './measures.ts';
import { createScope } from './scope.ts';
import { prepareSessions } from './sessions.ts';

/** In shorter spans most events are of the first half hour. */
const worthAdds = 4 * sessionPauseMilliseconds;

export const answerTotals = async (
  connection: DuckDBConnection,
  source: Source,
  question: TotalsQuestion,
): Promise<TotalsAnswer> => {
  const { edges, value } = question;
  const intervals = await prepareIntervals(connection, source, question, edges);
  const { grid } = intervals;
  const sessions = await prepareSessions(connection, source, question);
  const hits: WriteHits = (wanted) => {
    const scope = createScope(source, question);
    scope.add('slot', intervals.slotOf(scope));
    if (wanted.adds) scope.add('adds', scope.adds(grid, sessions));
    return intervals.within(scope.hits(wanted, wanted.session || wanted.adds ? sessions : null));
  };
  const counted = await countGroups(connection, source, question, {
    keys: ['interval'],
    size: { groups: intervals.count, events: Number.POSITIVE_INFINITY },
    sessions,
    withAdds: question.condition === null && grid.milliseconds >= worthAdds,
    hits,
  });
  const rows = await run(connection, sql`SELECT * FROM groups`);
  const byInterval = (list: readonly Row[]) => new Map(list.map((row) => [Number(row.interval), row]));
  const countedIn = byInterval(rows);
  /** The figures of numbers, by the intervals, and of the total. */
  const sumUp = async (attrID: string): Promise<Map<number | 'total', Row>> => {
    const scope = createScope(source, question);
    scope.add('number', scope.number(attrID));
    scope.add('slot', intervals.slotOf(scope));
    const found = intervals.within(scope.rows({ withPerson: false, where: scope.matched }));
    const sums = await run(
      connection,
      sql`SELECT "interval", GROUPING("interval")::INTEGER AS total, ${summedUp}
        FROM ${found} WHERE number IS NOT NULL GROUP BY GROUPING SETS ((), ("interval"))`,
    );
    return new Map(sums.map((row) => [row.total === 1 ? 'total' : Number(row.interval), row]));
  };
  const valued = value === null ? null : await sumUp(value);
  const valuedOf = (key: number | 'total') => (valued === null ? null : valued.get(key));
  const visits = question.visits
    ? await describeVisits(connection, source, question, {
        sessions,
        keys: ['interval'],
        hits: hits({ session: true }),
      })
    : null;
  const visitsIn = visits === null ? null : byInterval(visits.groups);
  return {
    total: toMeasures(await counted.total(), valuedOf('total'), visits === null ? null : visits.total),
    intervals: Array.from({ length: intervals.count }, (_, interval) =>
      toMeasures(countedIn.get(interval), valuedOf(interval), visitsIn === null ? null : visitsIn.get(interval)),
    ),
  };
};
