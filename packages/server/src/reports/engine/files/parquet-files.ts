/** Reads and writes an account's Parquet files. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { LastEvents } from '../../messages.ts';
import { clause, list, literal, name, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { selectNull } from './columns.ts';
import type { createFiles, EventFile, StoredFile } from './files.ts';

/** The maximum fraction of memory that a row group may take while it is written. */
const maxGroupShare = 0.125;
/** How many of the last events to compare with the store when the files are opened. */
const eventsToCompare = 100;

let lastNumber = 0;

/**
 * Returns a number for a file or table name. A process never reuses a number, even for another account or after files
 * are deleted, because DuckDB caches file contents by name.
 */
export const nextNumber = (): number => {
  lastNumber += 1;
  return lastNumber;
};

/** Makes `nextNumber` skip the number of an existing file. */
export const skipNumberOf = (fileName: string): void => {
  lastNumber = Math.max(lastNumber, Number(/\d+/.exec(fileName)?.[0]));
};

/**
 * Builds a query for the columns `names` of `rows`, a table or files, excluding rows that match `hidden`. Columns that
 * are not in `existing` are NULL.
 */
export const selectRows = (
  rows: SQL,
  existing: ReadonlySet<string>,
  names: readonly string[],
  hidden: SQL | null,
): SQL => {
  const selectList = names.map((column) => (existing.has(column) ? clause`e.${name(column)}` : selectNull(column)));
  return sql`SELECT ${list(selectList)} FROM ${rows} e WHERE NOT ${hidden ?? sql`false`}`;
};

export type Work = <Value>(use: (connection: DuckDBConnection) => Promise<Value>) => Promise<Value>;

export const createParquetFiles = (files: ReturnType<typeof createFiles>, work: Work, memoryBytes: number) => {
  const read = (storedFiles: readonly StoredFile[]): SQL =>
    clause`read_parquet([${list(storedFiles.map(({ name }) => literal(files.pathOf(name))))}], union_by_name = true)`;

  /**
   * Returns the number of rows in a row group. Each thread buffers a row group in memory, at 16 to 32 bytes per value.
   */
  const computeGroupRows = (columnCount: number): number =>
    Math.max(2_048, Math.min(122_880, Math.floor((maxGroupShare * memoryBytes) / 24 / columnCount)));

  /** Writes a query's rows to a new file. */
  const write = (prefix: string, query: SQL, columnCount: number): Promise<StoredFile> =>
    files.create(`${prefix}-${nextNumber()}.parquet`, (path) =>
      work((connection) =>
        run(
          connection,
          sql`COPY ${query} TO ${literal(path)}
            (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE ${computeGroupRows(columnCount)})`,
        ),
      ),
    );

  const select = (eventFiles: readonly EventFile[], names: readonly string[], hidden: SQL | null): SQL =>
    selectRows(read(eventFiles), new Set(eventFiles.flatMap((file) => file.columns)), names, hidden);

  return {
    read,
    write,
    select,
    /** Like `select`, but adds newer rows. `eventFiles` can be empty. */
    selectWith: (eventFiles: readonly EventFile[], names: readonly string[], hidden: SQL | null, newer: SQL): SQL =>
      eventFiles.length === 0 ? newer : sql`${select(eventFiles, names, hidden)} UNION ALL ${newer}`,

    /** Writes the events from `query` to a new file. Returns null if there are none. */
    async writeEvents(query: SQL, names: readonly string[]): Promise<EventFile | null> {
      const file = await write('events', query, names.length);
      const [row] = await work((connection) =>
        run(
          connection,
          sql`SELECT count(*) AS events, min(sequence) AS first, max(sequence) AS last FROM ${read([file])}`,
        ),
      );
      const events = Number(row?.events);
      if (events > 0) return { ...file, events, first: Number(row?.first), last: Number(row?.last), columns: names };
      await files.remove([file.name]);
      return null;
    },

    /** Returns a file's last events, for comparison with the store. */
    async readLast(file: EventFile): Promise<LastEvents> {
      const rows = await work((connection) =>
        run(
          connection,
          sql`SELECT * FROM (SELECT sequence, "user", contact, "eventID", "eventTime" FROM ${read([file])}
            ORDER BY sequence DESC LIMIT ${eventsToCompare}) ORDER BY sequence`,
        ),
      );
      const column = (field: string) => Float64Array.from(rows, (row) => Number(row[field]));
      const sequence = column('sequence');
      return {
        beyond: (sequence[0] as number) - 1,
        through: file.last,
        sequence,
        user: column('user'),
        contact: column('contact'),
        eventID: Int32Array.from(column('eventID')),
        eventTime: column('eventTime'),
      };
    },
  };
};
export type ParquetFiles = ReturnType<typeof createParquetFiles>;
