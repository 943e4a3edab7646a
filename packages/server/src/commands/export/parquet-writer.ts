/** Writes rows from the store to Parquet files, through the tables of an in-memory DuckDB database. */
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from '@duckdb/node-api';
import { clause, list, literal, name, type SQL, sql } from '../../reports/engine/sql.ts';
import { type Row, rowsPerChunk, run } from '../../reports/engine/statements.ts';
import type { Column } from './columns.ts';

const memoryLimit = '512MiB';
/** The suffix of a file that is being written. */
export const draftSuffix = '.part';
/** The subfolder for data that does not fit in memory. */
export const spillName = '.spill';

/** Syncs a file or a folder. */
export const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

export const createParquetWriter = (connection: DuckDBConnection) => ({
  query: (statement: SQL): Promise<Row[]> => run(connection, statement),
  /** Creates an empty table. Replaces an existing one, which frees its memory. */
  async createTable(table: string, columns: readonly Column<never>[]): Promise<void> {
    const definitions = columns.map((column) => clause`${name(column.name)} ${column.sqlType}`);
    await run(connection, sql`CREATE OR REPLACE TABLE ${name(table)} (${list(definitions)})`);
  },
  async append<Each>(table: string, columns: readonly Column<Each>[], rows: readonly Each[]): Promise<void> {
    const appender = await connection.createAppender(table);
    for (let first = 0; first < rows.length; first += rowsPerChunk) {
      const some = rows.slice(first, first + rowsPerChunk);
      const chunk = DuckDBDataChunk.create(
        columns.map(({ type }) => type),
        some.length,
      );
      for (const [index, { of }] of columns.entries()) chunk.setColumnValues(index, some.map(of) as never);
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  },
  /**
   * Writes a query's rows. The file gets its final name, and replaces an earlier file, once it is complete and synced.
   */
  async writeFile(path: string, query: SQL): Promise<void> {
    const draft = path + draftSuffix;
    await run(connection, sql`COPY ${query} TO ${literal(draft)} (FORMAT parquet, COMPRESSION zstd)`);
    await sync(draft);
    await rename(draft, path);
  },
});
export type ParquetWriter = ReturnType<typeof createParquetWriter>;

/** Runs `work` with a writer for files in a folder. */
export const withParquetWriter = async <Value>(
  folder: string,
  work: (writer: ParquetWriter, connection: DuckDBConnection) => Promise<Value>,
): Promise<Value> => {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memoryLimit,
    temp_directory: join(folder, spillName),
  });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return await work(createParquetWriter(connection), connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};
