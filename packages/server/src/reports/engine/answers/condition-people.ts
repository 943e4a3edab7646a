/** The people that the conditions of a question speak of, as temporary tables: a list of a hundred thousand contacts is no parameter. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition, Question } from '../../questions.ts';
import type { OfPeople, Source } from '../account.ts';
import { appendIntegers, runWith } from '../values.ts';
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

/**
 * How to find, in a query of events, whether the person of an event is among those of a condition. It is SQL of the columns of events `e`
 * alone, so that a query without people needs none.
 */
export const preparePeople = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
): Promise<Source['isOf']> => {
  const { owners, merged } = source.person;
  const numbers = new Map<OfPeople, number>();
  const isOf = (condition: OfPeople): string => {
    const number = numbers.get(condition);
    const any = 'contacts' in condition && condition.contacts === null;
    const within = (stretches: string) =>
      `EXISTS (SELECT 1 FROM ${stretches} s WHERE s."user" = e."user" AND s.after < e.sequence AND e.sequence <= s.through)`;
    const linked = [within(any ? owners : `stretches${number}`)];
    // Only a user who did it may have events without an owner.
    if ('did' in condition)
      linked.push(`(-e."user" IN (SELECT person FROM people${number}) AND NOT ${within(owners)})`);
    return `(CASE WHEN e.contact > 0 THEN ${any ? 'true' : `e.contact IN (SELECT contact FROM logged${number})`} ELSE ${linked.join(' OR ')} END)`;
  };
  for (const condition of conditionsOf(question).flatMap(inCondition)) {
    if (numbers.has(condition)) continue;
    const number = numbers.size;
    const people = `people${number}`;
    if ('did' in condition) await writeDoers(connection, people, { ...source, isOf }, question, condition);
    else if (condition.contacts) await writeNumbers(connection, people, condition.contacts);
    numbers.set(condition, number);
    if ('contacts' in condition && condition.contacts === null) continue;
    // With those that are merged into them, because events name the contact that they were logged with.
    await connection.run(`CREATE TEMP TABLE logged${number} AS SELECT person AS contact FROM ${people} WHERE person > 0
      UNION ALL SELECT contact FROM ${merged} WHERE owner IN (SELECT person FROM ${people})`);
    await connection.run(
      `CREATE TEMP TABLE stretches${number} AS SELECT "user", after, through FROM ${owners} WHERE person IN (SELECT person FROM ${people})`,
    );
  }
  return isOf;
};
