/** The people that the conditions of a question speak of, as temporary tables: a list of a hundred thousand contacts is no parameter. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Question } from '../../questions.ts';
import type { OfPeople, Source } from '../account.ts';
import { isWhole } from '../owners.ts';
import { and, clause, name, nothing, type SQL, sql } from '../sql.ts';
import { appendIntegers, run } from '../statements.ts';
import { writeFirstMet } from './first-touch.ts';
import { createScope } from './scope.ts';

/** Those within a `did` come before it. */
const inCondition = (condition: Condition): OfPeople[] => {
  if ('and' in condition) return condition.and.flatMap(inCondition);
  if ('or' in condition) return condition.or.flatMap(inCondition);
  if ('not' in condition) return inCondition(condition.not);
  if ('did' in condition) return [...(condition.did ? inCondition(condition.did) : []), condition];
  return 'contacts' in condition || 'personFirst' in condition ? [condition] : [];
};

/** All conditions of a question. */
const conditionsOf = (question: Question): Condition[] => {
  const own = question.report === 'people' ? question.of : question;
  return [
    question.condition,
    ...('steps' in own ? own.steps : []),
    ...('first' in own ? [own.first] : []),
    ...('back' in own ? [own.back] : []),
    ...('among' in own && own.among ? [own.among.condition] : []),
  ].filter((condition) => condition !== null);
};

const writeNumbers = async (connection: DuckDBConnection, table: string, numbers: Float64Array): Promise<void> => {
  await run(connection, sql`CREATE TEMP TABLE ${name(table)} (person BIGINT)`);
  appendIntegers(await connection.createAppender(table, 'main', 'temp'), [numbers]);
};

/** Makes the table of those who did it: contacts above zero, users below. */
const writeDoers = (
  connection: DuckDBConnection,
  table: string,
  source: Source,
  question: Question,
  { did, atLeast, atMost, from, to }: Extract<OfPeople, { readonly did: unknown }>,
) => {
  const scope = createScope(source, { ...question, condition: did, from, to });
  const times = [sql`count(*) >= ${atLeast}`, ...(atMost === null ? [] : [sql`count(*) <= ${atMost}`])];
  return run(
    connection,
    sql`CREATE TEMP TABLE ${name(table)} AS SELECT person FROM ${scope.rows({ where: scope.matched })}
      GROUP BY person HAVING ${and(times)}`,
  );
};

/** Equal for conditions that name the same list of contacts: a question that was sent to a process keeps what is the same object. */
const keyOf = (condition: OfPeople): unknown => ('contacts' in condition ? condition.contacts : condition);

/** Makes the table `mixed`, of the users whose events are not all of one person by their stretches. Returns whether there are any. */
const writeMixed = async (connection: DuckDBConnection, { person, through }: Source): Promise<boolean> => {
  await run(
    connection,
    sql`CREATE TEMP TABLE mixed AS SELECT "user" FROM ${person.owners} GROUP BY "user" HAVING NOT ${isWhole(through)}`,
  );
  return (await run(connection, sql`SELECT 1 FROM mixed LIMIT 1`)).length > 0;
};

/**
 * How to find, in a query of events, whether the person of an event is among those of a condition. It is SQL of the columns of events `e`
 * alone, so that a query without people needs none: whether its contact, its user or its sequence is in a table. The sequences are those
 * of users of whose events only some are of these people: looking each event up among stretches of sequences takes ten times as long.
 */
export const preparePeople = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
): Promise<Source['isOf']> => {
  const { owners, merged, joins, person } = source.person;
  const numbers = new Map<unknown, number>();
  const conditions = conditionsOf(question).flatMap(inCondition);
  const withParts = conditions.length > 0 && (await writeMixed(connection, source));
  const isOf = (condition: OfPeople): SQL => {
    const number = numbers.get(keyOf(condition));
    const [logged, whole, parts] = ['logged', 'whole', 'parts'].map((table) => name(`${table}${number}`)) as [
      SQL,
      SQL,
      SQL,
    ];
    const isAny = 'contacts' in condition && condition.contacts === null;
    const isWholeUser = sql`e."user" IN (SELECT "user" FROM ${whole})`;
    // Alone, a search among users is a join that DuckDB carries out while it reads the files.
    if (source.bounds.contact === 0 && !withParts) return isWholeUser;
    return sql`CASE WHEN e.contact > 0 THEN ${isAny ? and([]) : sql`e.contact IN (SELECT contact FROM ${logged})`}
      ELSE ${isWholeUser} ${withParts ? clause`OR e.sequence IN (SELECT sequence FROM ${parts})` : nothing} END`;
  };
  for (const condition of conditions) {
    if (numbers.has(keyOf(condition))) continue;
    const number = numbers.size;
    const table = `people${number}`;
    const people = name(table);
    if ('did' in condition) await writeDoers(connection, table, { ...source, isOf }, question, condition);
    else if ('personFirst' in condition)
      await run(
        connection,
        sql`CREATE TEMP TABLE ${people} AS ${await writeFirstMet(connection, source, question, condition.personFirst)}`,
      );
    else if (condition.contacts) await writeNumbers(connection, table, condition.contacts);
    else await run(connection, sql`CREATE TEMP TABLE ${people} AS SELECT DISTINCT person FROM ${owners}`);
    // With those that are merged into them, because events name the contact that they were logged with; and without those that are
    // themselves part of another person, as a contact is that was merged since the list was made.
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
    if (withParts)
      await run(
        connection,
        sql`CREATE TEMP TABLE ${name(`parts${number}`)} AS SELECT sequence FROM (
          SELECT e.sequence, ${person} AS person FROM ${source.select(['sequence', 'user', 'contact'])} e ${joins}
          WHERE e.contact = 0 AND e."user" IN (SELECT "user" FROM mixed)) WHERE person IN (SELECT person FROM ${people})`,
      );
    numbers.set(keyOf(condition), number);
  }
  return isOf;
};
