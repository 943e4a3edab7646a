/** Groups events by dimensions, as SQL. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { referrerAttrID } from '../../attributes.ts';
import type { ContactList, Dimension, Grouping, ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { and, clause, list, name, type SQL, sql, texts } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { writeFirstValues } from './first-touch.ts';
import { createGrid, findHourCuts, localTimeOf, spansBefore, valuesOfSpans } from './grid.ts';
import { referrerHostOf } from './host.ts';
import { createScope, type HitOptions, type Scope, type Sessions } from './scope.ts';
import { prepareSessions } from './sessions.ts';

const hour = 3_600_000;

const isSessionDimension = (dimension: Dimension): boolean =>
  ('of' in dimension && dimension.of !== 'personFirst') || ('by' in dimension && dimension.by === 'entryReferrerHost');
/** Returns the attribute that a dimension reads in a person's first event; undefined for other dimensions. */
const toFirstAttrID = (dimension: Dimension): string | undefined => {
  if ('of' in dimension) return dimension.of === 'personFirst' ? dimension.attrID : undefined;
  return 'by' in dimension && dimension.by === 'firstReferrerHost' ? referrerAttrID : undefined;
};
const isClock = (dimension: Dimension): boolean =>
  'by' in dimension && (dimension.by === 'weekday' || dimension.by === 'hour');

/** Returns the key columns of groups. */
export const toKeys = (dimensions: readonly Dimension[]): string[] => dimensions.map((_, index) => `d${index}`);
/** Whether a row of `h` and a row of `t` belong to the same group. */
export const sameGroup = (keys: readonly string[]): SQL =>
  and(keys.map((key) => sql`h.${name(key)} IS NOT DISTINCT FROM t.${name(key)}`));
/** Returns the tie-breaking order of groups, by text. */
export const toOrder = (keys: readonly string[]): SQL =>
  list(keys.map((key) => clause`${name(key)}::VARCHAR ASC NULLS LAST`));
/** Returns the values of a row's group. */
export const toValues = (row: Row, keys: readonly string[]): (string | null)[] =>
  keys.map((key) => (row[key] === null ? null : String(row[key])));

type GroupedQuery = ReportQuery & Grouping;

/**
 * Creates the temporary table `lists<index>` of contacts and the 1-based numbers of the lists that contain them.
 * Returns whether any contact is in more than one list.
 */
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

/** Both aggregates ignore rows without a value. */
const aggregates = { first: clause`arg_min`, last: clause`arg_max` };

/**
 * Creates the temporary table `visits`: each session's values for session dimensions (`v0`, `v1`; NULL if there is
 * none), its user, and the number of its events that the report counts.
 */
const writeVisits = async (
  connection: DuckDBConnection,
  source: Source,
  query: GroupedQuery,
  sessions: Sessions,
): Promise<void> => {
  const scope = createScope(source, query);
  const columns = query.dimensions.flatMap((dimension, index) => {
    const column = name(`v${index}`);
    if ('of' in dimension && dimension.of !== 'personFirst') {
      scope.add(`v${index}`, scope.text(dimension.attrID));
      return clause`${aggregates[dimension.of]}(${column}, place) AS ${column}`;
    }
    if (!('own' in dimension) || dimension.by !== 'entryReferrerHost') return [];
    scope.add(`v${index}`, scope.text(referrerAttrID));
    return clause`${referrerHostOf(sql`${aggregates.first}(${column}, place)`, dimension.own)} AS ${column}`;
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
 * Creates the temporary tables that groups need. `write` returns a query for the counted events with their group (`d0`,
 * `d1`) and the added `columns`, a map from names to SQL.
 *
 * `isRepeated` is whether an event in several groups has a row for each group. `bySession` is whether `write` returns a
 * row per session, with its number of `events`, if only users and sessions are requested.
 */
export const prepareGroups = async (connection: DuckDBConnection, source: Source, query: GroupedQuery) => {
  const { from, to, dimensions } = query;
  const offsets = query.offsets.filter(([start]) => start < to);
  const withVisits = dimensions.some(isSessionDimension);
  const bySession = dimensions.every(isSessionDimension);
  const withClock = dimensions.some(isClock);
  const ofPeople = dimensions.some((dimension) => 'lists' in dimension || toFirstAttrID(dimension) !== undefined);
  let isRepeated = false;
  for (const [index, dimension] of dimensions.entries())
    if ('lists' in dimension && (await writeLists(connection, index, dimension.lists))) isRepeated = true;
  for (const [index, dimension] of dimensions.entries()) {
    const attrID = toFirstAttrID(dimension);
    if (attrID === undefined) continue;
    const values = await writeFirstValues(connection, source, query, attrID);
    const value = 'own' in dimension ? referrerHostOf(name('value'), dimension.own) : name('value');
    await run(
      connection,
      sql`CREATE TEMP TABLE ${name(`touch${index}`)} AS SELECT owner, ${value} AS value FROM ${values}`,
    );
  }
  const grid = createGrid(from, withClock ? findHourCuts(from, to, offsets).sort((a, b) => a - b) : [], hour);

  const sessions = await prepareSessions(connection, source, query);
  if (withVisits) await writeVisits(connection, source, query, sessions);
  if (withClock) {
    const spans = spansBefore(grid, to, () => {
      const scope = createScope(source, query);
      scope.add('span', scope.spanOf(grid));
      return scope.rows({ withPerson: false });
    });
    const clock = sql`SELECT span, ${localTimeOf(grid)} FROM ${valuesOfSpans(grid, offsets, spans)}`;
    await run(connection, sql`CREATE TEMP TABLE clock AS ${clock}`);
  }

  const write = (options: HitOptions, columns: (scope: Scope) => Readonly<Record<string, SQL>> = () => ({})): SQL => {
    const condition = options.among && 'among' in query ? query.among?.condition : query.condition;
    const scope = createScope(source, { ...query, condition: condition ?? null });
    if (options.once) return scope.hits(options, options.session ? sessions : null);
    if (withClock) scope.add('span', scope.spanOf(grid));
    const addedColumns = Object.entries(columns(scope));
    for (const [column, value] of addedColumns) scope.add(column, value);
    const selectList = dimensions.map((dimension, index) => {
      const key = `d${index}`;
      if ('lists' in dimension) {
        const values = texts(dimension.lists.map((one) => one.value));
        return clause`${values}[${name(`l${index}`)}.list] AS ${name(key)}`;
      }
      if (isSessionDimension(dimension)) return clause`${name(`v${index}`)} AS ${name(key)}`;
      if (toFirstAttrID(dimension) !== undefined) return clause`${name(`f${index}`)}.value AS ${name(key)}`;
      if ('attrID' in dimension) scope.add(key, scope.text(dimension.attrID));
      else if (dimension.by === 'event') scope.add(key, scope.kind());
      else if ('own' in dimension) scope.add(key, referrerHostOf(scope.text(referrerAttrID), dimension.own));
      else return clause`${name(dimension.by)} AS ${name(key)}`;
      return name(key);
    });
    if (bySession && addedColumns.length === 0 && !options.person && !options.sequence && !options.among)
      return sql`SELECT ${list(selectList)}, session, "user", events FROM visits WHERE events > 0`;
    selectList.push(...addedColumns.map(([column]) => name(column)));
    if (options.person) selectList.push(name('person'));
    if (options.session) selectList.push(name('session'));
    if (options.sequence) selectList.push(name('sequence'));
    const events = scope.hits(
      { ...options, person: options.person || ofPeople },
      options.session || withVisits ? sessions : null,
    );
    const joins = dimensions.flatMap((dimension, index) => {
      const [lists, firsts] = [name(`l${index}`), name(`f${index}`)];
      if ('lists' in dimension) return clause`LEFT JOIN ${name(`lists${index}`)} ${lists} ON ${lists}.contact = person`;
      if (toFirstAttrID(dimension) === undefined) return [];
      return clause`LEFT JOIN ${name(`touch${index}`)} ${firsts} ON ${firsts}.owner = person`;
    });
    if (withClock) joins.push(clause`JOIN clock USING (span)`);
    if (withVisits) joins.push(clause`LEFT JOIN (SELECT * EXCLUDE ("user", events) FROM visits) USING (session)`);
    return sql`SELECT ${list(selectList)}, "user" FROM ${events} ${list(joins, ' ')}`;
  };
  return { sessions, write, isRepeated, bySession };
};

export type PreparedGroups = Awaited<ReturnType<typeof prepareGroups>>;
