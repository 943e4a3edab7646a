/** Appends events of the feed to a table. */
import {
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import { robotMark } from '@firsthand/contract/identifiers';
import type { FedAttribute, FedEvents } from '../../../store/report-feed.ts';
import { clause, name as column, doubles, list, type SQL, sql, texts } from '../sql.ts';
import { rowsOfChunk, run } from '../statements.ts';
import { type Columns, definition, toNumber } from './columns.ts';
import type { NumberedSessions } from './visitors.ts';

/** A column of the staging table: where a row's value comes from. */
interface Staged {
  readonly name: string;
  readonly type: DuckDBType;
  readonly sqlType: SQL;
  at(row: number): unknown;
}

/** For each event the place of its text in `texts`, from 1; 0: it has none. */
const placesOf = ({ rows, which }: FedAttribute, count: number): Int32Array => {
  const places = new Int32Array(count);
  for (let index = 0; index < rows.length; index += 1) places[rows[index] as number] = (which[index] as number) + 1;
  return places;
};

/** The attributes without columns, as lists of keys and values for each event that has some. */
const restOf = (attributes: readonly FedAttribute[]): Staged[] => {
  const rests = new Map<number, { keys: string[]; texts: string[]; numberKeys: string[]; numbers: number[] }>();
  for (const { attrID, rows, which, texts } of attributes) {
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index] as number;
      const rest = rests.get(row) ?? { keys: [], texts: [], numberKeys: [], numbers: [] };
      rests.set(row, rest);
      const text = texts[which[index] as number] as string;
      const number = toNumber(text);
      rest.keys.push(attrID);
      rest.texts.push(text);
      if (number === null) continue;
      rest.numberKeys.push(attrID);
      rest.numbers.push(number);
    }
  }
  const listOf = (name: 'keys' | 'texts' | 'numberKeys' | 'numbers'): Staged => ({
    name,
    type: LIST(name === 'numbers' ? DOUBLE : VARCHAR),
    sqlType: name === 'numbers' ? clause`DOUBLE[]` : clause`VARCHAR[]`,
    at: (row) => {
      const rest = rests.get(row);
      return rest ? listValue(rest[name]) : null;
    },
  });
  return [listOf('keys'), listOf('texts'), listOf('numberKeys'), listOf('numbers')];
};

const fill = async (connection: DuckDBConnection, columns: readonly Staged[], count: number): Promise<void> => {
  const definitions = columns.map(({ name, sqlType }) => clause`${column(name)} ${sqlType}`);
  await run(connection, sql`CREATE OR REPLACE TEMP TABLE staged (${list(definitions)})`);
  const appender = await connection.createAppender('staged', 'main', 'temp');
  for (let first = 0; first < count; first += rowsOfChunk) {
    const rows = Math.min(rowsOfChunk, count - first);
    const chunk = DuckDBDataChunk.create(
      columns.map(({ type }) => type),
      rows,
    );
    columns.forEach(({ at }, index) => {
      const vector = chunk.getColumnVector(index);
      for (let row = 0; row < rows; row += 1) vector.setItem(row, at(first + row) as never);
      vector.flush();
    });
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
};

const numeric = (name: string, values: Float64Array | Int32Array | Uint8Array): Staged => ({
  name,
  type: values instanceof Float64Array ? DOUBLE : INTEGER,
  sqlType: values instanceof Float64Array ? clause`DOUBLE` : clause`INTEGER`,
  at: (row) => values[row],
});

/**
 * Appends events to the table `tail`, whose missing columns are added; `names` are those that it has, and grows. Returns about how many bytes of memory they take.
 *
 * Texts are not written row by row: a list of the distinct ones is a parameter, and each row has its place in it. That takes half the time.
 */
export const appendEvents = async (
  connection: DuckDBConnection,
  tail: SQL,
  names: string[],
  columns: Columns,
  events: FedEvents,
  { sessions, begins }: NumberedSessions,
): Promise<number> => {
  const { count, attributes } = events;
  if (count === 0) return 0;
  const withColumn = attributes.map((attribute) => ({ attribute, number: columns.numberFor(attribute.attrID) }));
  const staged: Staged[] = (['sequence', 'user', 'contact', 'eventID', 'eventTime'] as const).map((name) =>
    numeric(name, events[name]),
  );
  /** The columns of the tail that are filled, and their values from `staged`. */
  const filled = new Map<string, SQL>(
    staged.map(({ name }) => [name, name === 'eventID' ? sql`"eventID"` : sql`${column(name)}::BIGINT`]),
  );
  staged.push(numeric('session', sessions));
  filled.set('session', sql`nullif(session, 0)::BIGINT`);
  staged.push(numeric('begins', begins));
  filled.set('begins', sql`begins = 1`);
  filled.set('robot', sql`false`);
  let bytes = 0;
  for (const { attribute, number } of withColumn) {
    if (number === undefined) continue;
    const { attrID } = attribute;
    staged.push(numeric(`p${number}`, placesOf(attribute, count)));
    const place = column(`p${number}`);
    filled.set(`a${number}`, sql`${texts(attribute.texts)}[${place}]`);
    const numbers = attribute.texts.map(toNumber);
    if (numbers.some((value) => value !== null)) filled.set(`n${number}`, sql`${doubles(numbers)}[${place}]`);
    if (attrID === robotMark.attrID) {
      const mark = attribute.texts.indexOf(robotMark.attrValue) + 1;
      filled.set('robot', mark === 0 ? sql`false` : sql`${place} = ${mark}`);
    }
    const length = attribute.texts.reduce((sum, text) => sum + text.length, 0);
    bytes += (length / Math.max(1, attribute.texts.length)) * attribute.rows.length;
  }
  const rest = attributes.filter((_, index) => withColumn[index]?.number === undefined);
  if (rest.length > 0) {
    staged.push(...restOf(rest));
    filled.set('rest', sql`map(keys, texts)`);
    filled.set('restNumbers', sql`map("numberKeys", numbers)`);
    for (const { rows, texts: distinct } of rest)
      bytes += rows.length * 64 + distinct.reduce((sum, text) => sum + text.length, 0);
  }
  await fill(connection, staged, count);
  for (const name of filled.keys()) {
    if (names.includes(name)) continue;
    await run(connection, sql`ALTER TABLE ${tail} ADD COLUMN ${definition(name)}`);
    names.push(name);
  }
  await run(
    connection,
    sql`INSERT INTO ${tail} (${list([...filled.keys()].map(column))}) SELECT ${list([...filled.values()])} FROM staged`,
  );
  await run(connection, sql`DROP TABLE staged`);
  return bytes + count * (48 + 16 * (names.length - 8));
};
