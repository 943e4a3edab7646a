/** The people that the conditions of a question speak of, as temporary tables: a list of a hundred thousand contacts is no parameter. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Question } from '../../questions.ts';
import type { OfPeople, Source } from '../account.ts';
import { isWhole } from '../owners.ts';
import { appendIntegers, runSQL, runWith } from '../values.ts';
import { createScope } from './scope.ts';

/** Those within a `did` come before it. */
const inCondition = (condition: Condition): OfPeople[] => {
  if ('and' in condition) return condition.and.flatMap(inCondition);
  if ('or' in condition) return condition.or.flatMap(inCondition);
  if ('not' in condition) return inCondition(condition.not);
  if ('did' in condition) return [...(condition.did ? inCondition(condition.did) : []), condition];
  return 'contacts' in condition ? [condition] : [];
};

/** All conditions of a question. */
const conditionsOf = (question: Question): Condition[] => {
  const own = question.report === 'people' ? question.of : question;
  return [
    question.condition,
    ...('steps' in own ? own.steps : []),
    ...('first' in own ? [own.first] : []),
    ...('back' in own ? [own.back] : []),
  ].filter((condition) => condition !== null);
};

const writeNumbers = async (connection: DuckDBConnection, table: string, numbers: Float64Array): Promise<void> => {
  await connection.run(`CREATE TEMP TABLE ${table} (person BIGINT)`);
  appendIntegers(await connection.createAppender(table, 'main', 'temp'), [numbers]);
};

/** Makes the table of those who did it: contacts above zero, users below. */
const writeDoers = (
  connection: DuckDBConnection,
  table: string,
  source: Source,
  question: Question,
  { did, atLeast, atMost, from, to }: Extract<OfPeople, { readonly did: unknown }>,
) =>
  runWith(connection, (values) => {
    const scope = createScope(source, { ...question, condition: did, from, to }, values);
    const times = [`count(*) >= ${values.integer(atLeast)}`];
    if (atMost !== null) times.push(`count(*) <= ${values.integer(atMost)}`);
    return `CREATE TEMP TABLE ${table} AS SELECT person FROM (${scope.rows({ where: scope.matched })}) GROUP BY person HAVING ${times.join(' AND ')}`;
  });

/** Equal for conditions that name the same list of contacts: a question that was sent to a process keeps what is the same object. */
const keyOf = (condition: OfPeople): unknown => ('contacts' in condition ? condition.contacts : condition);

/** Makes the table `mixed`, of the users whose events are not all of one person by their stretches. Returns whether there are any. */
const writeMixed = async (connection: DuckDBConnection, { person, through }: Source): Promise<boolean> => {
  await connection.run(`CREATE TEMP TABLE mixed AS SELECT "user" FROM ${person.owners} GROUP BY "user"
    HAVING NOT (${isWhole(through)})`);
  return (await runSQL(connection, 'SELECT 1 FROM mixed LIMIT 1')).length > 0;
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
  const { owners, merged, joins, sql } = source.person;
  const numbers = new Map<unknown, number>();
  const conditions = conditionsOf(question).flatMap(inCondition);
  const withParts = conditions.length > 0 && (await writeMixed(connection, source));
  const isOf = (condition: OfPeople): string => {
    const number = numbers.get(keyOf(condition));
    const isAny = 'contacts' in condition && condition.contacts === null;
    const part = withParts ? `OR e.sequence IN (SELECT sequence FROM parts${number})` : '';
    // Alone, a search among users is a join that DuckDB carries out while it reads the files.
    if (source.bounds.contact === 0 && !withParts) return `e."user" IN (SELECT "user" FROM whole${number})`;
    return `(CASE WHEN e.contact > 0 THEN ${isAny ? 'true' : `e.contact IN (SELECT contact FROM logged${number})`}
      ELSE e."user" IN (SELECT "user" FROM whole${number}) ${part} END)`;
  };
  for (const condition of conditions) {
    if (numbers.has(keyOf(condition))) continue;
    const number = numbers.size;
    const people = `people${number}`;
    if ('did' in condition) await writeDoers(connection, people, { ...source, isOf }, question, condition);
    else if (condition.contacts) await writeNumbers(connection, people, condition.contacts);
    else await connection.run(`CREATE TEMP TABLE ${people} AS SELECT DISTINCT person FROM ${owners}`);
    // With those that are merged into them, because events name the contact that they were logged with; and without those that are
    // themselves part of another person, as a contact is that was merged since the list was made.
    await connection.run(`CREATE TEMP TABLE logged${number} AS SELECT person AS contact FROM ${people}
      WHERE person > 0 AND person NOT IN (SELECT contact FROM ${merged} WHERE contact <> owner)
      UNION ALL SELECT contact FROM ${merged} WHERE owner IN (SELECT person FROM ${people})`);
    await connection.run(`CREATE TEMP TABLE whole${number} AS
      SELECT "user" FROM ${owners} WHERE person IN (SELECT person FROM ${people}) AND "user" NOT IN (SELECT "user" FROM mixed)
      UNION ALL SELECT -person AS "user" FROM ${people} WHERE person < 0 AND -person NOT IN (SELECT "user" FROM mixed)`);
    if (withParts)
      await connection.run(`CREATE TEMP TABLE parts${number} AS SELECT sequence FROM (
        SELECT e.sequence, ${sql} AS person FROM (${source.select(['sequence', 'user', 'contact'])}) e ${joins}
        WHERE e.contact = 0 AND e."user" IN (SELECT "user" FROM mixed)) WHERE person IN (SELECT person FROM ${people})`);
    numbers.set(keyOf(condition), number);
  }
  return isOf;
};
