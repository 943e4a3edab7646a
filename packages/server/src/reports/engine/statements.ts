/** Runs SQL, and transfers large columns of numbers to and from DuckDB. */
import {
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBValue,
} from '@duckdb/node-api';
import { compile, type SQL } from './sql.ts';

/** A row, with BIGINT and HUGEINT values as bigint. */
export type Row = Record<string, DuckDBValue>;

export const run = async (connection: DuckDBConnection, statement: SQL): Promise<Row[]> => {
  const { text, values, types } = compile(statement);
  const reader = await connection.runAndReadAll(text, values, types);
  return reader.getRowObjects();
};

/** The numbers in a chunk of rows, column by column. */
type NumberColumns = readonly (Float64Array | Int32Array)[];

/** Like `run`, for statements whose columns are DOUBLE or INTEGER without NULL. Returns the rows in chunks. */
export const runForNumbers = async (connection: DuckDBConnection, statement: SQL): Promise<NumberColumns[]> => {
  const { text, values, types } = compile(statement);
  const result = await connection.run(text, values, types);
  return Array.from({ length: result.chunkCount }, (_, index) => {
    const chunk = result.getChunk(index);
    return Array.from({ length: chunk.columnCount }, (_, column) => {
      const { items } = chunk.getColumnVector(column) as unknown as { items: Float64Array | Int32Array };
      return items.subarray(0, chunk.rowCount);
    });
  });
};

/** The maximum number of rows in a chunk, which is DuckDB's vector size. */
export const rowsPerChunk = 2048;

/**
 * Appends BIGINT columns and closes the appender. Passes doubles, which DuckDB converts, because that is three times as
 * fast as BigInt().
 */
export const appendIntegers = (appender: DuckDBAppender, columns: readonly ArrayLike<number>[]): void => {
  const count = columns[0]?.length ?? 0;
  for (let first = 0; first < count; first += rowsPerChunk) {
    const rows = Math.min(rowsPerChunk, count - first);
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
