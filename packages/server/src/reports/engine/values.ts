/** The parameters of a statement: no value from outside is ever part of its text. */
import {
  BIGINT,
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';

/** Each function adds a value and returns its place in the text of the statement. */
const createValues = () => {
  const values: DuckDBValue[] = [];
  const types: DuckDBType[] = [];
  const add = (value: DuckDBValue, type: DuckDBType): string => {
    values.push(value);
    types.push(type);
    return `$${values.length}`;
  };
  return {
    values,
    types,
    text: (value: string) => add(value, VARCHAR),
    number: (value: number) => add(value, DOUBLE),
    integer: (value: number) => add(BigInt(value), BIGINT),
    texts: (list: readonly string[]) => add(listValue([...list]), LIST(VARCHAR)),
    numbers: (list: readonly (number | null)[]) => add(listValue([...list]), LIST(DOUBLE)),
    integers: (list: readonly number[]) => add(listValue(list.map(BigInt)), LIST(BIGINT)),
    small: (list: readonly number[]) => add(listValue([...list]), LIST(INTEGER)),
  };
};
export type Values = ReturnType<typeof createValues>;

/** A row: BIGINT and HUGEINT as bigint. */
export type Row = Record<string, DuckDBValue>;

/** Runs a statement whose text is made by `write`. */
export const runWith = async (connection: DuckDBConnection, write: (values: Values) => string): Promise<Row[]> => {
  const added = createValues();
  const text = write(added);
  const reader = await connection.runAndReadAll(text, added.values, added.types);
  return reader.getRowObjects();
};

/** The numbers of a chunk of rows, column by column. */
export type NumberColumns = readonly (Float64Array | Int32Array)[];

/** As `runWith`, for a statement whose columns are DOUBLE or INTEGER without NULL. Returns the chunks of its rows. */
export const runForNumbers = async (
  connection: DuckDBConnection,
  write: (values: Values) => string,
): Promise<NumberColumns[]> => {
  const added = createValues();
  const text = write(added);
  const result = await connection.run(text, added.values, added.types);
  return Array.from({ length: result.chunkCount }, (_, index) => {
    const chunk = result.getChunk(index);
    return Array.from({ length: chunk.columnCount }, (_, column) => {
      const { items } = chunk.getColumnVector(column) as unknown as { items: Float64Array | Int32Array };
      return items.subarray(0, chunk.rowCount);
    });
  });
};

/** DuckDB's vector size: a chunk holds no more rows. */
export const rowsOfChunk = 2048;

/** Appends rows of BIGINT columns, given column by column, and closes the appender, which converts them: that takes a third as long as BigInt(). */
export const appendIntegers = (appender: DuckDBAppender, columns: readonly ArrayLike<number>[]): void => {
  const count = columns[0]?.length ?? 0;
  for (let first = 0; first < count; first += rowsOfChunk) {
    const rows = Math.min(rowsOfChunk, count - first);
    const chunk = DuckDBDataChunk.create(
      columns.map(() => DOUBLE),
      rows,
    );
    columns.forEach((column, index) => {
      const vector = chunk.getColumnVector(index);
      for (let row = 0; row < rows; row += 1) vector.setItem(row, column[first + row] as never);
      vector.flush();
    });
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
};

export const runSQL = async (connection: DuckDBConnection, text: string): Promise<Row[]> =>
  runWith(connection, () => text);
