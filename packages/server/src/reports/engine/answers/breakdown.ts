/** Breakdowns: the measures of groups of events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownAnswer, BreakdownQuestion, Dimension, Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runWith, type Values } from '../values.ts';
import { countGroups, type WriteHits } from './counting.ts';
import { clockOf, createGrid, hourCuts, spansBefore, valuesOfSpans } from './grid.ts';
import { summedUp, toMeasures } from './measures.ts';
import { hostOf, pathAttrID, referrerAttrID } from './pages.ts';
import { createScope, type Scope, type Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';

const hour = 3_600_000;

const sortColumns = { events: 'events', users: 'users', people: 'people', sessions: 'sessions' } as const;

const isPage = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'entryPage' || dimension.by === 'exitPage');
const isClock = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'weekday' || dimension.by === 'hour');

/** A question about the groups of a breakdown. */
type Grouped = Question & Pick<BreakdownQuestion, 'dimensions' | 'offsets'>;

/** Makes the temporary table `pages`: the first and last page of each session that has one. */
const writePages = async (
  connection: DuckDBConnection,
  source: Source,
  question: Grouped,
  sessions: Sessions,
): Promise<void> => {
  await runWith(connection, (values) => {
    const scope = createScope(source, question, values);
    const path = scope.text(pathAttrID);
    scope.add('path', path);
    scope.add('place', scope.place);
    return `CREATE TEMP TABLE pages AS SELECT session, arg_min(path, place) AS entry, arg_max(path, place) AS exit
      FROM (${scope.rows({ withPerson: false, sessions, where: `${path} IS NOT NULL` })}) GROUP BY session`;
  });
};

/**
 * Makes the temporary tables that groups need. `write` returns a query of the events that the answer counts, each with its group (`d0`, `d1`),
 * and those of `columns`, which are SQL by their names.
 */
export const prepareGroups = async (connection: DuckDBConnection, source: Source, question: Grouped) => {
  const { from, to, dimensions } = question;
  const offsets = question.offsets.filter(([start]) => start < to);
  const withPages = dimensions.some(isPage);
  const withClock = dimensions.some(isClock);
  const grid = createGrid(from, withClock ? hourCuts(from, to, offsets).sort((a, b) => a - b) : [], hour);

  const sessions = await prepareSessions(connection, source, question);
  if (withPages) await writePages(connection, source, question, sessions);
  if (withClock)
    await runWith(connection, (values) => {
      const spans = spansBefore(grid, to, () => {
        const scope = createScope(source, question, values);
        scope.add('span', scope.spanOf(grid));
        return scope.rows({ withPerson: false });
      });
      return `CREATE TEMP TABLE clock AS SELECT span, ${clockOf(grid, values)} FROM (${valuesOfSpans(grid, offsets, spans, values)})`;
    });

  const write = (
    values: Values,
    wanted: Parameters<WriteHits>[1],
    columns: (scope: Scope) => Readonly<Record<string, string>> = () => ({}),
  ): string => {
    const scope = createScope(source, question, values);
    if (withClock) scope.add('span', scope.spanOf(grid));
    const added = Object.entries(columns(scope));
    for (const [name, sql] of added) scope.add(name, sql);
    const selected = dimensions.map((dimension, index) => {
      if ('attrID' in dimension) scope.add(`d${index}`, scope.text(dimension.attrID));
      else if (dimension.by === 'event') scope.add(`d${index}`, scope.eventID());
      else if (dimension.by === 'referrerHost') scope.add(`d${index}`, hostOf(scope.text(referrerAttrID)));
      else if (dimension.by === 'entryPage') return `entry AS d${index}`;
      else if (dimension.by === 'exitPage') return `exit AS d${index}`;
      else return `${dimension.by}::VARCHAR AS d${index}`;
      return `d${index}`;
    });
    selected.push(...added.map(([name]) => name));
    if (wanted.person) selected.push('person');
    if (wanted.session) selected.push('session');
    const found = scope.hits(wanted, wanted.session || withPages ? sessions : null);
    return `SELECT ${selected.join(', ')}, "user" FROM (${found})
      ${withClock ? 'JOIN clock USING (span)' : ''} ${withPages ? 'LEFT JOIN pages USING (session)' : ''}`;
  };
  return { sessions, write };
};

export const answerBreakdown = async (
  connection: DuckDBConnection,
  source: Source,
  question: BreakdownQuestion,
): Promise<BreakdownAnswer> => {
  const { dimensions, value, sort, limit } = question;
  const { sessions, write } = await prepareGroups(connection, source, question);
  const keys = dimensions.map((_, index) => `d${index}`);
  const order = `${sortColumns[sort]} DESC, ${keys.map((key) => `${key} ASC NULLS LAST`).join(', ')}`;
  const { total, rows, further, others } = await countGroups(connection, source, question, {
    keys,
    sessions,
    hits: (values, wanted) => write(values, wanted),
    first: { order, limit },
  });
  const sameGroup = keys.map((key) => `h.${key} IS NOT DISTINCT FROM t.${key}`).join(' AND ');
  const ranked = `SELECT *, row_number() OVER (ORDER BY ${order}) AS rank FROM first`;
  const valued =
    value === null
      ? null
      : await runWith(
          connection,
          (values) => `SELECT rank, GROUPING(rank)::INTEGER AS total, ${summedUp}
            FROM (${write(values, {}, (scope) => ({ number: scope.number(value) }))}) h LEFT JOIN (${ranked}) t ON ${sameGroup}
            WHERE number IS NOT NULL GROUP BY GROUPING SETS ((), (rank))`,
        );
  const valuedOf = (rank: number | null, ofTotal = 0) =>
    valued === null
      ? null
      : valued.find((row) => row.total === ofTotal && (row.rank === null ? null : Number(row.rank)) === rank);
  return {
    total: toMeasures(total, valuedOf(null, 1)),
    rows: rows.map((row, index) => ({
      values: keys.map((key) => row[key] as string | null),
      ...toMeasures(row, valuedOf(index + 1)),
    })),
    others: further === 0 ? null : { groups: further, ...toMeasures(others, valuedOf(null)) },
  };
};
