/** The contacts that the conditions of a question name, as temporary tables: a list of a hundred thousand is no parameter. */
import { BIGINT, type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import type { Condition, Question } from '../../questions.ts';
import type { Source } from '../account.ts';

type Named = Extract<Condition, { readonly contacts: unknown }>;

const rowsOfChunk = 2048;

const inCondition = (condition: Condition): Named[] => {
  if ('and' in condition) return condition.and.flatMap(inCondition);
  if ('or' in condition) return condition.or.flatMap(inCondition);
  if ('not' in condition) return inCondition(condition.not);
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

/**
 * How to find, in a query of events, whether an event belongs to the contacts of a condition. It is SQL of the columns of events `e` alone, so that a
 * query without people needs none.
 */
export const prepareContacts = async (
  connection: DuckDBConnection,
  { person: { owners, merged } }: Pick<Source, 'person'>,
  question: Question,
): Promise<(condition: Named) => string> => {
  const numbers = new Map<Named, number>();
  for (const condition of conditionsOf(question).flatMap(inCondition)) {
    const number = numbers.size;
    numbers.set(condition, number);
    const { contacts } = condition;
    if (contacts === null) continue;
    await connection.run(`CREATE TEMP TABLE named${number} (contact BIGINT)`);
    const appender = await connection.createAppender(`named${number}`, 'main', 'temp');
    for (let first = 0; first < contacts.length; first += rowsOfChunk) {
      const part = Array.from(contacts.subarray(first, first + rowsOfChunk), BigInt);
      const chunk = DuckDBDataChunk.create([BIGINT], part.length);
      chunk.setColumnValues(0, part);
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    // With those that are merged into them, because events name the contact that they were logged with.
    await connection.run(
      `INSERT INTO named${number} SELECT contact FROM ${merged} WHERE owner IN (SELECT contact FROM named${number})`,
    );
    await connection.run(
      `CREATE TEMP TABLE stretches${number} AS SELECT "user", after, through FROM ${owners} WHERE person IN (SELECT contact FROM named${number})`,
    );
  }
  return (condition) => {
    const number = numbers.get(condition);
    const any = condition.contacts === null;
    const stretches = any ? owners : `stretches${number}`;
    return `(CASE WHEN e.contact > 0 THEN ${any ? 'true' : `e.contact IN (SELECT contact FROM named${number})`} ELSE EXISTS (
      SELECT 1 FROM ${stretches} s WHERE s."user" = e."user" AND s.after < e.sequence AND e.sequence <= s.through) END)`;
  };
};
