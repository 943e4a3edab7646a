/** Groups of events by dimensions, as SQL. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { referrerAttrID } from '../../attributes.ts';
import type { ContactList, Dimension, Grouping, Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { appendIntegers, type Row, runWith, type Values } from '../values.ts';
import { clockOf, createGrid, hourCuts, spansBefore, valuesOfSpans } from './grid.ts';
import { referrerHostOf } from './host.ts';
import { createScope, type Scope, type Sessions, type Wanted } from './scope.ts';
import { prepareSessions } from './sessions.ts';

const hour = 3_600_000;

const isOfSession = (dimension: Dimension): boolean =>
  'of' in dimension || ('by' in dimension && dimension.by === 'entryReferrerHost');
const isClock = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'weekday' || dimension.by === 'hour');

/** The columns of groups. */
export const keysOf = (dimensions: readonly Dimension[]): string[] => dimensions.map((_, index) => `d${index}`);
/** Whether rows of `h` and `t` are of the same group. */
export const sameGroup = (keys: readonly string[]): string =>
  keys.map((key) => `h.${key} IS NOT DISTINCT FROM t.${key}`).join(' AND ');
/** The order of groups that are equal otherwise: as text. */
export const inOrderOf = (keys: readonly string[]): string =>
  keys.map((key) => `${key}::VARCHAR ASC NULLS LAST`).join(', ');
/** The values of a row's group. */
export const valuesIn = (row: Row, keys: readonly string[]): (string | null)[] =>
  keys.map((key) => (row[key] === null ? null : String(row[key])));

/** A question about groups. */
type Grouped = Question & Grouping;

/** Makes the temporary table `lists<index>`: of each contact the numbers of the lists that it is in, from 1. Returns whether a contact has several. */
const writeLists = async (
  connection: DuckDBConnection,
  index: number,
  lists: readonly ContactList[],
): Promise<boolean> => {
  await connection.run(`CREATE TEMP TABLE lists${index} (contact BIGINT, list BIGINT)`);
  const contacts = lists.flatMap((list) => [...list.contacts]);
  const numbers = lists.flatMap(({ contacts: those }, index) => new Array<number>(those.length).fill(index + 1));
  appendIntegers(await connection.createAppender(`lists${index}`, 'main', 'temp'), [contacts, numbers]);
  return new Set(contacts).size < contacts.length;
};

/** These ignore rows without a value. */
const finders = { first: 'arg_min', last: 'arg_max' } as const;

/**
 * Makes the temporary table `visits`: of each session its values of those dimensions that are of sessions (`v0`, `v1`; NULL if it has none),
 * its user, and how many of its events the answer counts.
 */
const writeVisits = async (
  connection: DuckDBConnection,
  source: Source,
  question: Grouped,
  sessions: Sessions,
): Promise<void> => {
  await runWith(connection, (values) => {
    const scope = createScope(source, question, values);
    const columns = question.dimensions.flatMap((dimension, index) => {
      if ('of' in dimension) {
        scope.add(`v${index}`, scope.text(dimension.attrID));
        return `${finders[dimension.of]}(v${index}, place) AS v${index}`;
      }
      if (!('own' in dimension) || dimension.by === 'referrerHost') return [];
      scope.add(`v${index}`, scope.text(referrerAttrID));
      return `${referrerHostOf(`${finders.first}(v${index}, place)`, dimension.own, values)} AS v${index}`;
    });
    scope.add('place', scope.place);
    scope.add('"user"', 'e."user"');
    const counts = question.condition === null ? '' : 'FILTER (WHERE counts)';
    if (counts !== '') scope.add('counts', scope.matched);
    return `CREATE TEMP TABLE visits AS SELECT session, ${columns.join(', ')}, any_value("user") AS "user", count(*) ${counts} AS events
      FROM (${scope.rows({ withPerson: false, sessions })}) GROUP BY session`;
  });
};

/**
 * Makes the temporary tables that groups need. `write` returns a query of the events that the answer counts, each with its group (`d0`, `d1`),
 * and those of `columns`, which are SQL by their names. `isRepeated`: an event of several groups is there once for each. `bySession`: `write`
 * returns a row for each session, with the number of its `events`, unless more is wanted than users and sessions.
 */
export const prepareGroups = async (connection: DuckDBConnection, source: Source, question: Grouped) => {
  const { from, to, dimensions } = question;
  const offsets = question.offsets.filter(([start]) => start < to);
  const withVisits = dimensions.some(isOfSession);
  const bySession = dimensions.every(isOfSession);
  const withClock = dimensions.some(isClock);
  const withLists = dimensions.some((dimension) => 'lists' in dimension);
  let isRepeated = false;
  for (const [index, dimension] of dimensions.entries())
    if ('lists' in dimension && (await writeLists(connection, index, dimension.lists))) isRepeated = true;
  const grid = createGrid(from, withClock ? hourCuts(from, to, offsets).sort((a, b) => a - b) : [], hour);

  const sessions = await prepareSessions(connection, source, question);
  if (withVisits) await writeVisits(connection, source, question, sessions);
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
    wanted: Wanted,
    columns: (scope: Scope) => Readonly<Record<string, string>> = () => ({}),
  ): string => {
    const scope = createScope(source, question, values);
    if (wanted.once) return scope.hits(wanted, wanted.session ? sessions : null);
    if (withClock) scope.add('span', scope.spanOf(grid));
    const added = Object.entries(columns(scope));
    for (const [name, sql] of added) scope.add(name, sql);
    const selected = dimensions.map((dimension, index) => {
      if ('lists' in dimension) {
        const texts = values.texts(dimension.lists.map((list) => list.value));
        return `${texts}[l${index}.list] AS d${index}`;
      }
      if (isOfSession(dimension)) return `v${index} AS d${index}`;
      if ('attrID' in dimension) scope.add(`d${index}`, scope.text(dimension.attrID));
      else if (dimension.by === 'event') scope.add(`d${index}`, scope.kind());
      else if ('own' in dimension)
        scope.add(`d${index}`, referrerHostOf(scope.text(referrerAttrID), dimension.own, values));
      else return `${dimension.by} AS d${index}`;
      return `d${index}`;
    });
    if (bySession && added.length === 0 && !wanted.person && !wanted.sequence)
      return `SELECT ${selected.join(', ')}, session, "user", events FROM visits WHERE events > 0`;
    selected.push(...added.map(([name]) => name));
    if (wanted.person) selected.push('person');
    if (wanted.session) selected.push('session');
    if (wanted.sequence) selected.push('sequence');
    const found = scope.hits(
      { ...wanted, person: wanted.person || withLists },
      wanted.session || withVisits ? sessions : null,
    );
    const lists = dimensions.map((dimension, index) =>
      'lists' in dimension ? `LEFT JOIN lists${index} l${index} ON l${index}.contact = person` : '',
    );
    return `SELECT ${selected.join(', ')}, "user" FROM (${found}) ${lists.join(' ')}
      ${withClock ? 'JOIN clock USING (span)' : ''} ${withVisits ? 'LEFT JOIN (SELECT * EXCLUDE ("user", events) FROM visits) USING (session)' : ''}`;
  };
  return { sessions, write, isRepeated, bySession };
};
