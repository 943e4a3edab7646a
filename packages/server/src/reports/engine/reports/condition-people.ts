/**
 * The people that a report's conditions refer to, as temporary tables: a list of 100,000 contacts is too long for a
 * parameter.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, ReportQuery } from '../../queries.ts';
import { hasSingleOwner } from '../owners.ts';
import type { PersonCondition, Snapshot, Source } from '../source.ts';
import { and, clause, name, nothing, type SQL, sql } from '../sql.ts';
import { appendIntegers, run } from '../statements.ts';
import { writeFirstMatches } from './first-touch.ts';
import { createScope } from './scope.ts';

/** Lists the conditions on people in a condition. Conditions inside a `did` precede the `did`. */
const listPersonConditions = (condition: Condition): PersonCondition[] => {
  if ('and' in condition) return condition.and.flatMap(listPersonConditions);
  if ('or' in condition) return condition.or.flatMap(listPersonConditions);
  if ('not' in condition) return listPersonConditions(condition.not);
  if ('did' in condition) return [...(condition.did ? listPersonConditions(condition.did) : []), condition];
  return 'contacts' in condition || 'personFirst' in condition ? [condition] : [];
};

const listConditions = (query: ReportQuery): Condition[] => {
  const report = query.report === 'people' ? query.of : query;
  return [
    query.condition,
    ...('steps' in report ? report.steps : []),
    ...('first' in report ? [report.first] : []),
    ...('back' in report ? [report.back] : []),
    ...('among' in report && report.among ? [report.among.condition] : []),
    ...('goal' in report && report.goal ? [report.goal.condition] : []),
  ].filter((condition) => condition !== null);
};

const writeNumbers = async (connection: DuckDBConnection, table: string, numbers: Float64Array): Promise<void> => {
  await run(connection, sql`CREATE TEMP TABLE ${name(table)} (person BIGINT)`);
  appendIntegers(await connection.createAppender(table, 'main', 'temp'), [numbers]);
};

/**
 * Creates a table of the people who meet a `did` condition: contacts as positive numbers, users as negative numbers.
 */
const writeDidPeople = (
  connection: DuckDBConnection,
  table: string,
  source: Source,
  query: ReportQuery,
  { did, atLeast, atMost, from, to }: Extract<PersonCondition, { readonly did: unknown }>,
) => {
  const scope = createScope(source, { ...query, condition: did, from, to });
  const times = [sql`count(*) >= ${atLeast}`, ...(atMost === null ? [] : [sql`count(*) <= ${atMost}`])];
  return run(
    connection,
    sql`CREATE TEMP TABLE ${name(table)} AS SELECT person FROM ${scope.rows({ where: scope.matched })}
      GROUP BY person HAVING ${and(times)}`,
  );
};

/**
 * Returns a key that is equal for conditions with the same list of contacts. Within a message, the list is one object,
 * because structured clone preserves object identity.
 */
const toKey = (condition: PersonCondition): unknown => ('contacts' in condition ? condition.contacts : condition);

/**
 * Creates the table `mixed` of users whose stretches belong to more than one person. Returns whether there are any.
 */
const writeMixed = async (connection: DuckDBConnection, { person, through }: Snapshot): Promise<boolean> => {
  await run(
    connection,
    sql`CREATE TEMP TABLE mixed AS SELECT "user" FROM ${person.owners} GROUP BY "user" HAVING NOT ${hasSingleOwner(through)}`,
  );
  return (await run(connection, sql`SELECT 1 FROM mixed LIMIT 1`)).length > 0;
};

/**
 * Creates the tables for `isOf`, which checks whether an event's contact, user or sequence is in one of these tables,
 * so that a query needs no join with owners.
 *
 * Users with several owners are represented by sequences, because looking up each event in stretches would take ten
 * times as long.
 */
export const preparePeople = async (
  connection: DuckDBConnection,
  snapshot: Snapshot,
  query: ReportQuery,
): Promise<Source> => {
  const { owners, merged, joins, person } = snapshot.person;
  const numbers = new Map<unknown, number>();
  const conditions = listConditions(query).flatMap(listPersonConditions);
  const hasMixed = conditions.length > 0 && (await writeMixed(connection, snapshot));
  const isOf = (condition: PersonCondition): SQL => {
    const number = numbers.get(toKey(condition));
    const [logged, whole, parts] = ['logged', 'whole', 'parts'].map((table) => name(`${table}${number}`)) as [
      SQL,
      SQL,
      SQL,
    ];
    const isAny = 'contacts' in condition && condition.contacts === null;
    const isWholeUser = sql`e."user" IN (SELECT "user" FROM ${whole})`;
    // Omits the CASE, because DuckDB can then execute the condition as a join while it reads the files.
    if (snapshot.bounds.contact === 0 && !hasMixed) return isWholeUser;
    return sql`CASE WHEN e.contact > 0 THEN ${isAny ? and([]) : sql`e.contact IN (SELECT contact FROM ${logged})`}
      ELSE ${isWholeUser} ${hasMixed ? clause`OR e.sequence IN (SELECT sequence FROM ${parts})` : nothing} END`;
  };
  const source = { ...snapshot, isOf };
  for (const condition of conditions) {
    if (numbers.has(toKey(condition))) continue;
    const number = numbers.size;
    const table = `people${number}`;
    const people = name(table);
    if ('did' in condition) await writeDidPeople(connection, table, source, query, condition);
    else if ('personFirst' in condition)
      await run(
        connection,
        sql`CREATE TEMP TABLE ${people} AS ${await writeFirstMatches(connection, source, query, condition.personFirst)}`,
      );
    else if (condition.contacts) await writeNumbers(connection, table, condition.contacts);
    else await run(connection, sql`CREATE TEMP TABLE ${people} AS SELECT DISTINCT person FROM ${owners}`);
    // Includes contacts that were merged into these, because events store the contact that they were logged with.
    // Excludes contacts that were merged into other contacts after the list was created.
    await run(
      connection,
      sql`CREATE TEMP TABLE ${name(`logged${number}`)} AS SELECT person AS contact FROM ${people}
        WHERE person > 0 AND person NOT IN (SELECT contact FROM ${merged} WHERE contact <> owner)
        UNION ALL SELECT contact FROM ${merged} WHERE owner IN (SELECT person FROM ${people})`,
    );
    await run(
      connection,
      sql`CREATE TEMP TABLE ${name(`whole${number}`)} AS
        SELECT "user" FROM ${owners} WHERE person IN (SELECT person FROM ${people}) AND "user" NOT IN (SELECT "user" FROM mixed)
        UNION ALL SELECT -person AS "user" FROM ${people} WHERE person < 0 AND -person NOT IN (SELECT "user" FROM mixed)`,
    );
    if (hasMixed)
      await run(
        connection,
        sql`CREATE TEMP TABLE ${name(`parts${number}`)} AS SELECT sequence FROM (
          SELECT e.sequence, ${person} AS person FROM ${source.select(['sequence', 'user', 'contact'])} e ${joins}
          WHERE e.contact = 0 AND e."user" IN (SELECT "user" FROM mixed)) WHERE person IN (SELECT person FROM ${people})`,
      );
    numbers.set(toKey(condition), number);
  }
  return source;
};
