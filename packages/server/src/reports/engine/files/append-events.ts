/** Appends events from the feed to a table. */
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
import type { AttributeColumn, EventFeedPage } from '../../../store/report-feed.ts';
import { clause, name as column, doubles, list, type SQL, sql, texts } from '../sql.ts';
import { rowsPerChunk, run } from '../statements.ts';
import { type Columns, defineColumn, toNumber } from './columns.ts';
import type { NumberedSessions } from './visitors.ts';

/** A column of the staging table. */
interface StagingColumn {
  readonly name: string;
  readonly type: DuckDBType;
  readonly sqlType: SQL;
  at(row: number): unknown;
}

/** For each event, the 1-based index of its text in `texts`, or 0 if it has none. */
const toTextIndexes = ({ rows, which }: AttributeColumn, count: number): Int32Array => {
  const places = new Int32Array(count);
  for (let index = 0; index < rows.length; index += 1) places[rows[index] as number] = (which[index] as number) + 1;
  return places;
};

/**
 * The columns for attributes without a column of their own: lists of keys and values for each event with such
 * attributes.
 */
const createRestColumns = (attributes: readonly AttributeColumn[]): StagingColumn[] => {
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
  const createList = (name: 'keys' | 'texts' | 'numberKeys' | 'numbers'): StagingColumn => ({
    name,
    type: LIST(name === 'numbers' ? DOUBLE : VARCHAR),
    sqlType: name === 'numbers' ? clause`DOUBLE[]` : clause`VARCHAR[]`,
    at: (row) => {
      const rest = rests.get(row);
      return rest ? listValue(rest[name]) : null;
    },
  });
  return [createList('keys'), createList('texts'), createList('numberKeys'), createList('numbers')];
};

const fillStaging = async (
  connection: DuckDBConnection,
  columns: readonly StagingColumn[],
  count: number,
): Promise<void> => {
  const definitions = columns.map(({ name, sqlType }) => clause`${column(name)} ${sqlType}`);
  await run(connection, sql`CREATE OR REPLACE TEMP TABLE staged (${list(definitions)})`);
  const appender = await connection.createAppender('staged', 'main', 'temp');
  for (let first = 0; first < count; first += rowsPerChunk) {
    const rows = Math.min(rowsPerChunk, count - first);
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

const createNumeric = (name: string, values: Float64Array | Int32Array | Uint8Array): StagingColumn => ({
  name,
  type: values instanceof Float64Array ? DOUBLE : INTEGER,
  sqlType: values instanceof Float64Array ? clause`DOUBLE` : clause`INTEGER`,
  at: (row) => values[row],
});

/**
 * Appends events to the table `tail`. Adds missing columns to the table and to `names`, its current columns. Returns
 * roughly how many bytes of memory the events occupy.
 *
 * A row refers to its text by an index into a parameter that contains the distinct texts. This takes half as long as
 * writing the texts.
 */
export const appendEvents = async (
  connection: DuckDBConnection,
  tail: SQL,
  names: string[],
  columns: Columns,
  events: EventFeedPage,
  { sessions, begins }: NumberedSessions,
): Promise<number> => {
  const { count, attributes } = events;
  if (count === 0) return 0;
  const numbered = attributes.map((attribute) => ({ attribute, number: columns.numberFor(attribute.attrID) }));
  const stagingColumns: StagingColumn[] = (['sequence', 'user', 'contact', 'eventID', 'eventTime'] as const).map(
    (name) => createNumeric(name, events[name]),
  );
  /** The columns of the tail to fill, and their values from the table `staged`. */
  const tailValues = new Map<string, SQL>(
    stagingColumns.map(({ name }) => [name, name === 'eventID' ? sql`"eventID"` : sql`${column(name)}::BIGINT`]),
  );
  stagingColumns.push(createNumeric('session', sessions));
  tailValues.set('session', sql`nullif(session, 0)::BIGINT`);
  stagingColumns.push(createNumeric('begins', begins));
  tailValues.set('begins', sql`begins = 1`);
  tailValues.set('robot', sql`false`);
  let bytes = 0;
  for (const { attribute, number } of numbered) {
    if (number === undefined) continue;
    const { attrID } = attribute;
    stagingColumns.push(createNumeric(`p${number}`, toTextIndexes(attribute, count)));
    const place = column(`p${number}`);
    tailValues.set(`a${number}`, sql`${texts(attribute.texts)}[${place}]`);
    const numbers = attribute.texts.map(toNumber);
    if (numbers.some((value) => value !== null)) tailValues.set(`n${number}`, sql`${doubles(numbers)}[${place}]`);
    if (attrID === robotMark.attrID) {
      const mark = attribute.texts.indexOf(robotMark.attrValue) + 1;
      tailValues.set('robot', mark === 0 ? sql`false` : sql`${place} = ${mark}`);
    }
    const length = attribute.texts.reduce((sum, text) => sum + text.length, 0);
    bytes += (length / Math.max(1, attribute.texts.length)) * attribute.rows.length;
  }
  const rest = attributes.filter((_, index) => numbered[index]?.number === undefined);
  if (rest.length > 0) {
    stagingColumns.push(...createRestColumns(rest));
    tailValues.set('rest', sql`map(keys, texts)`);
    tailValues.set('restNumbers', sql`map("numberKeys", numbers)`);
    for (const { rows, texts: distinct } of rest)
      bytes += rows.length * 64 + distinct.reduce((sum, text) => sum + text.length, 0);
  }
  await fillStaging(connection, stagingColumns, count);
  for (const name of tailValues.keys()) {
    if (names.includes(name)) continue;
    await run(connection, sql`ALTER TABLE ${tail} ADD COLUMN ${defineColumn(name)}`);
    names.push(name);
  }
  await run(
    connection,
    sql`INSERT INTO ${tail} (${list([...tailValues.keys()].map(column))}) SELECT ${list([...tailValues.values()])} FROM staged`,
  );
  await run(connection, sql`DROP TABLE staged`);
  return bytes + count * (48 + 16 * (names.length - 8));
};
