/** Groups of events by dimensions, as SQL. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { referrerAttrID } from '../../attributes.ts';
import type { ContactList, Dimension, Grouping, Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { and, clause, list, name, type SQL, sql, texts } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { writeFirstValues } from './first-touch.ts';
import { clockOf, createGrid, hourCuts, spansBefore, valuesOfSpans } from './grid.ts';
import { referrerHostOf } from './host.ts';
import { createScope, type Scope, type Sessions, type Wanted } from './scope.ts';
import { prepareSessions } from './sessions.ts';

const hour = 3_600_000;

const isOfSession = (dimension: Dimension): boolean =>
  ('of' in dimension && dimension.of !== 'personFirst') || ('by' in dimension && dimension.by === 'entryReferrerHost');
/** The attribute of a person's first event that a dimension reads; undefined: it reads another one. */
const attrIDOfFirst = (dimension: Dimension): string | undefined => {
  if ('of' in dimension) return dimension.of === 'personFirst' ? dimension.attrID : undefined;
  return 'by' in dimension && dimension.by === 'firstReferrerHost' ? referrerAttrID : undefined;
};
const isClock = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'weekday' || dimension.by === 'hour');

/** The columns of groups. */
export const keysOf = (dimensions: readonly Dimension[]): string[] => dimensions.map((_, index) => `d${index}`);
/** Whether rows of `h` and `t` are of the same group. */
export const sameGroup = (keys: readonly string[]): SQL =>
  and(keys.map((key) => sql`h.${name(key)} IS NOT DISTINCT FROM t.${name(key)}`));
/** The order of groups that are equal otherwise: as text. */
export const inOrderOf = (keys: readonly string[]): SQL =>
  list(keys.map((key) => clause`${name(key)}::VARCHAR ASC NULLS LAST`));
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
  const table = `lists${index}`;
  await run(connection, sql`CREATE TEMP TABLE ${name(table)} (contact BIGINT, list BIGINT)`);
  for (const [nth, { contacts }] of lists.entries()) {
    const numbers = new Float64Array(contacts.length).fill(nth + 1);
    appendIntegers(await connection.createAppender(table, 'main', 'temp'), [contacts, numbers]);
  }
  const [row] = await run(connection, sql`SELECT count(*) > count(DISTINCT contact) AS several FROM ${name(table)}`);
  return row?.several === true;
};

/** These ignore rows without a value. */
const finders = { first: clause`arg_min`, last: clause`arg_max` };

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
  const scope = createScope(source, question);
  const columns = question.dimensions.flatMap((dimension, index) => {
    const column = name(`v${index}`);
    if ('of' in dimension && dimension.of !== 'personFirst') {
      scope.add(`v${index}`, scope.text(dimension.attrID));
      return clause`${finders[dimension.of]}(${column}, place) AS ${column}`;
    }
    if (!('own' in dimension) || dimension.by !== 'entryReferrerHost') return [];
    scope.add(`v${index}`, scope.text(referrerAttrID));
    return clause`${referrerHostOf(sql`${finders.first}(${column}, place)`, dimension.own)} AS ${column}`;
  });
  scope.add('place', scope.place);
  scope.add('user', sql`e."user"`);
  scope.add('counts', scope.matched);
  await run(
    connection,
    sql`CREATE TEMP TABLE visits AS
      SELECT session, ${list(columns)}, any_value("user") AS "user", count(*) FILTER (WHERE counts) AS events
      FROM ${scope.rows({ withPerson: false, sessions })} GROUP BY session`,
  );
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
  const ofPeople = dimensions.some((dimension) => 'lists' in dimension || attrIDOfFirst(dimension) !== undefined);
  let isRepeated = false;
  for (const [index, dimension] of dimensions.entries())
    if ('lists' in dimension && (await writeLists(connection, index, dimension.lists))) isRepeated = true;
  for (const [index, dimension] of dimensions.entries()) {
    const attrID = attrIDOfFirst(dimension);
    if (attrID === undefined) continue;
    const values = await writeFirstValues(connection, source, question, attrID);
    const value = 'own' in dimension ? referrerHostOf(name('value'), dimension.own) : name('value');
    await run(
      connection,
      sql`CREATE TEMP TABLE ${name(`touch${index}`)} AS SELECT owner, ${value} AS value FROM ${values}`,
    );
  }
  const grid = createGrid(from, withClock ? hourCuts(from, to, offsets).sort((a, b) => a - b) : [], hour);

  const sessions = await prepareSessions(connection, source, question);
  if (withVisits) await writeVisits(connection, source, question, sessions);
  if (withClock) {
    const spans = spansBefore(grid, to, () => {
      const scope = createScope(source, question);
      scope.add('span', scope.spanOf(grid));
      return scope.rows({ withPerson: false });
    });
    const clock = sql`SELECT span, ${clockOf(grid)} FROM ${valuesOfSpans(grid, offsets, spans)}`;
    await run(connection, sql`CREATE TEMP TABLE clock AS ${clock}`);
  }

  const write = (wanted: Wanted, columns: (scope: Scope) => Readonly<Record<string, SQL>> = () => ({})): SQL => {
    const condition = wanted.among && 'among' in question ? question.among?.condition : question.condition;
    const scope = createScope(source, { ...question, condition: condition ?? null });
    if (wanted.once) return scope.hits(wanted, wanted.session ? sessions : null);
    if (withClock) scope.add('span', scope.spanOf(grid));
    const added = Object.entries(columns(scope));
    for (const [column, value] of added) scope.add(column, value);
    const selected = dimensions.map((dimension, index) => {
      const key = `d${index}`;
      if ('lists' in dimension) {
        const values = texts(dimension.lists.map((one) => one.value));
        return clause`${values}[${name(`l${index}`)}.list] AS ${name(key)}`;
      }
      if (isOfSession(dimension)) return clause`${name(`v${index}`)} AS ${name(key)}`;
      if (attrIDOfFirst(dimension) !== undefined) return clause`${name(`f${index}`)}.value AS ${name(key)}`;
      if ('attrID' in dimension) scope.add(key, scope.text(dimension.attrID));
      else if (dimension.by === 'event') scope.add(key, scope.kind());
      else if ('own' in dimension) scope.add(key, referrerHostOf(scope.text(referrerAttrID), dimension.own));
      else return clause`${name(dimension.by)} AS ${name(key)}`;
      return name(key);
    });
    if (bySession && added.length === 0 && !wanted.person && !wanted.sequence && !wanted.among)
      return sql`SELECT ${list(selected)}, session, "user", events FROM visits WHERE events > 0`;
    selected.push(...added.map(([column]) => name(column)));
    if (wanted.person) selected.push(name('person'));
    if (wanted.session) selected.push(name('session'));
    if (wanted.sequence) selected.push(name('sequence'));
    const found = scope.hits(
      { ...wanted, person: wanted.person || ofPeople },
      wanted.session || withVisits ? sessions : null,
    );
    const joins = dimensions.flatMap((dimension, index) => {
      const [lists, firsts] = [name(`l${index}`), name(`f${index}`)];
      if ('lists' in dimension) return clause`LEFT JOIN ${name(`lists${index}`)} ${lists} ON ${lists}.contact = person`;
      if (attrIDOfFirst(dimension) === undefined) return [];
      return clause`LEFT JOIN ${name(`touch${index}`)} ${firsts} ON ${firsts}.owner = person`;
    });
    if (withClock) joins.push(clause`JOIN clock USING (span)`);
    if (withVisits) joins.push(clause`LEFT JOIN (SELECT * EXCLUDE ("user", events) FROM visits) USING (session)`);
    return sql`SELECT ${list(selected)}, "user" FROM ${found} ${list(joins, ' ')}`;
  };
  return { sessions, write, isRepeated, bySession };
};

export type PreparedGroups = Awaited<ReturnType<typeof prepareGroups>>;
