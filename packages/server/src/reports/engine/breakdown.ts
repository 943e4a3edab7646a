/** Breakdowns: the measures of groups of events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownAnswer, BreakdownQuestion, Dimension } from '../questions.ts';
import type { Source } from './account.ts';
import { clockOf, createGrid, hourCuts, spanOf, valuesOfSpans } from './grid.ts';
import { counted, summedUp, toMeasures } from './measures.ts';
import { hostOf, pathAttrID, referrerAttrID } from './pages.ts';
import { createScope, place, sequenceAt } from './scope.ts';
import { firstAndLast, writeSessions } from './sessions.ts';
import { runSQL, runWith, type Values } from './values.ts';

const sortColumns = { events: 'events', users: 'users', people: 'people', sessions: 'sessions' } as const;

const isPage = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'entryPage' || dimension.by === 'exitPage');
const isClock = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'weekday' || dimension.by === 'hour');

/**
 * Makes the temporary table `pages`: the first and last page of each session that has one. `writePaths` is a query of all events with a
 * path: `sequence`, `path`. Their texts are looked up last: keeping two of them
 * for each user and span took 27 s instead of 18 for ten million events.
 */
const writePages = async (connection: DuckDBConnection, writePaths: (values: Values) => string): Promise<void> => {
  await runSQL(
    connection,
    `CREATE TEMP TABLE ends AS SELECT session, ${sequenceAt('min(first_page)')} AS first_page, ${sequenceAt('max(last_page)')} AS last_page
      FROM cells JOIN sessions USING (visitor, span) WHERE first_page IS NOT NULL GROUP BY session`,
  );
  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE pages AS SELECT session, f.path AS entry, l.path AS exit FROM ends
      JOIN (${writePaths(values)}) f ON f.sequence = first_page JOIN (${writePaths(values)}) l ON l.sequence = last_page`,
  );
};

export const answerBreakdown = async (
  connection: DuckDBConnection,
  source: Source,
  question: BreakdownQuestion,
): Promise<BreakdownAnswer> => {
  const { from, to, dimensions, value, sort, limit } = question;
  const offsets = question.offsets.filter(([start]) => start < to);
  const withPages = dimensions.some(isPage);
  const withClock = dimensions.some(isClock);
  const grid = createGrid(from, withClock ? hourCuts(from, to, offsets).sort((a, b) => a - b) : []);

  await runWith(connection, (values) => {
    const scope = createScope(source, question, values);
    scope.add('span', spanOf(grid, '"eventTime"', values));
    scope.add('"eventTime"', '"eventTime"');
    if (withPages) scope.add('place', `CASE WHEN ${scope.text(pathAttrID)} IS NOT NULL THEN ${place} END`);
    const pages = ', min(place) AS first_page, max(place) AS last_page';
    return `CREATE TEMP TABLE cells AS SELECT visitor, span, ${firstAndLast}${withPages ? pages : ''}
      FROM (${scope.rows({ withPerson: false })}) GROUP BY visitor, span`;
  });
  await writeSessions(connection);
  if (withPages)
    await writePages(connection, (values) => {
      const scope = createScope(source, question, values);
      const path = scope.text(pathAttrID);
      scope.add('sequence', 'sequence');
      scope.add('path', path);
      return scope.rows({ withPerson: false, where: `${path} IS NOT NULL` });
    });
  if (withClock)
    await runWith(
      connection,
      (values) =>
        `CREATE TEMP TABLE clock AS SELECT span, ${clockOf(grid, values)} FROM (${valuesOfSpans(grid, offsets, 'cells', values)})`,
    );

  /** The events that the answer counts, each with its group: `d0`, `d1`. */
  const hits = (values: Values, withNumber = false): string => {
    const scope = createScope(source, question, values);
    scope.add('span', spanOf(grid, '"eventTime"', values));
    if (withNumber) scope.add('number', scope.number(value as string));
    const selected = dimensions.map((dimension, index) => {
      if ('attrID' in dimension) scope.add(`d${index}`, scope.text(dimension.attrID));
      else if (dimension.by === 'event') scope.add(`d${index}`, scope.eventID());
      else if (dimension.by === 'referrerHost') scope.add(`d${index}`, hostOf(scope.text(referrerAttrID)));
      else if (dimension.by === 'entryPage') return `entry AS d${index}`;
      else if (dimension.by === 'exitPage') return `exit AS d${index}`;
      else return `${dimension.by}::VARCHAR AS d${index}`;
      return `d${index}`;
    });
    return `SELECT ${selected.join(', ')}, visitor, session, ${withNumber ? 'number' : 'person'}
      FROM (${scope.rows({ withPerson: !withNumber, where: scope.matched })}) JOIN sessions USING (visitor, span)
      ${withClock ? 'JOIN clock USING (span)' : ''} ${withPages ? 'LEFT JOIN pages USING (session)' : ''}
      ${withNumber ? 'WHERE number IS NOT NULL' : ''}`;
  };
  const keys = dimensions.map((_, index) => `d${index}`);
  const sameGroup = keys.map((key) => `h.${key} IS NOT DISTINCT FROM t.${key}`).join(' AND ');

  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE groups AS SELECT ${keys.join(', ')}, GROUPING(d0) AS total, ${counted('count(*)')}
      FROM (${hits(values)}) GROUP BY GROUPING SETS ((), (${keys.join(', ')}))`,
  );
  const order = `${sortColumns[sort]} DESC, ${keys.map((key) => `${key} ASC NULLS LAST`).join(', ')}`;
  await runWith(
    connection,
    (
      values,
    ) => `CREATE TEMP TABLE top AS SELECT *, row_number() OVER (ORDER BY ${order}) AS rank FROM groups WHERE total = 0
      ORDER BY ${order} LIMIT ${values.integer(limit)}`,
  );
  const [total] = await runSQL(connection, 'SELECT * FROM groups WHERE total = 1');
  const rows = await runSQL(connection, 'SELECT * FROM top ORDER BY rank');
  const [count] = await runSQL(connection, 'SELECT count(*) AS groups FROM groups WHERE total = 0');
  const groups = Number(count?.groups) - rows.length;
  const [others] =
    groups === 0
      ? []
      : await runWith(
          connection,
          (values) => `SELECT ${counted('count(*)')} FROM (${hits(values)}) h ANTI JOIN top t ON ${sameGroup}`,
        );
  const valued =
    value === null
      ? null
      : await runWith(
          connection,
          (values) => `SELECT rank, GROUPING(rank)::INTEGER AS total, ${summedUp}
            FROM (${hits(values, true)}) h LEFT JOIN top t ON ${sameGroup} GROUP BY GROUPING SETS ((), (rank))`,
        );
  const valuedOf = (rank: number | null, ofTotal = 0) =>
    valued === null
      ? null
      : valued.find((row) => row.total === ofTotal && (row.rank === null ? null : Number(row.rank)) === rank);
  return {
    total: toMeasures(total, valuedOf(null, 1)),
    rows: rows.map((row) => ({
      values: keys.map((key) => row[key] as string | null),
      ...toMeasures(row, valuedOf(Number(row.rank))),
    })),
    others: groups === 0 ? null : { groups, ...toMeasures(others, valuedOf(null)) },
  };
};
