/** Reads other tools' Parquet files, for `firsthand import`. */
import { DuckDBInstance } from '@duckdb/node-api';
import { type FormatName, findFormat, formats, type Reading, UnreadableFileError } from '@firsthand/import-formats';

const memoryLimit = '512MiB';
/** DuckDB treats a path with these characters as a pattern. */
const isPattern = (path: string): boolean => /[*?[]/.test(path);

/**
 * Reads a file as messages, in order, and detects its format if none is given. `line` is the number of the row, from 1.
 * DuckDB converts each row to JSON, so that it has the same form as in a JSON lines file.
 */
export async function* readParquetMessages(path: string, format?: FormatName): AsyncGenerator<Reading> {
  if (isPattern(path)) throw new UnreadableFileError(`rename the file: its path must not contain *, ? or [`);
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memoryLimit,
    // Prevents a file's name or an unknown type from making DuckDB load an extension.
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const rows = await connection
      .stream(
        `SELECT columns_of_file::JSON::VARCHAR FROM read_parquet('${path.replaceAll("'", "''")}') columns_of_file`,
      )
      .catch((error: Error) => {
        throw new UnreadableFileError(`the Parquet file can't be read: ${error.message}`);
      });
    let line = 0;
    let toMessages = format && formats[format].toMessages;
    for (let chunk = await rows.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await rows.fetchChunk()) {
      for (const [text] of chunk.getRows()) {
        line += 1;
        const row = JSON.parse(text as string);
        if (toMessages === undefined) {
          const detected = findFormat(Object.keys(row));
          if (detected === undefined)
            throw new UnreadableFileError(
              `the columns do not match a format that can be imported: ${Object.keys(row).slice(0, 20).join(', ')}`,
            );
          toMessages = formats[detected].toMessages;
        }
        for (const outcome of toMessages(row)) yield { line, ...outcome };
      }
    }
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
