/** Reads and writes the Parquet files of an account. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { LastEvents } from '../../messages.ts';
import { clause, list, literal, name, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { absent } from './columns.ts';
import type { createFiles, EventFile, StoredFile } from './files.ts';

/** The part of the memory that a group of rows may take while it is written. */
const maxGroup = 0.125;
/** How many events are compared with the store when the files are opened. */
const comparedEvents = 100;

let lastNumber = 0;

/**
 * Returns a number for the name of a file or table. Numbers only grow: none of them is used twice in a process, not even for another
 * account or after files were deleted, because DuckDB caches what it has read of a file under its name.
 */
export const nextNumber = (): number => {
  lastNumber += 1;
  return lastNumber;
};

/** Makes `nextNumber` return greater numbers than that of a file. */
export const skipNumberOf = (fileName: string): void => {
  lastNumber = Math.max(lastNumber, Number(/\d+/.exec(fileName)?.[0]));
};

/**
 * Returns a query for the columns `names` of `rows`, a table or a list of files, without the rows that `hidden` is true of. Columns that are
 * not in `has` are NULL.
 */
export const selectRows = (rows: SQL, has: ReadonlySet<string>, names: readonly string[], hidden: SQL | null): SQL => {
  const selected = names.map((column) => (has.has(column) ? clause`e.${name(column)}` : absent(column)));
  return sql`SELECT ${list(selected)} FROM ${rows} e WHERE NOT ${hidden ?? sql`false`}`;
};

type Work = <Value>(use: (connection: DuckDBConnection) => Promise<Value>) => Promise<Value>;

export const createParquetFiles = (files: ReturnType<typeof createFiles>, work: Work, memoryBytes: number) => {
  const read = (those: readonly EventFile[]): SQL =>
    clause`read_parquet([${list(those.map((file) => literal(files.pathOf(file.name))))}], union_by_name = true)`;

  /** Each thread holds a group of rows in memory, at 16 to 32 bytes a value, until it is written. */
  const rowsOfGroup = (columnCount: number): number =>
    Math.max(2_048, Math.min(122_880, Math.floor((maxGroup * memoryBytes) / 24 / columnCount)));

  /** Writes the rows of a query to a new file. */
  const write = (what: string, query: SQL, columnCount: number): Promise<StoredFile> =>
    files.create(`${what}-${nextNumber()}.parquet`, (path) =>
      work((connection) =>
        run(
          connection,
          sql`COPY ${query} TO ${literal(path)}
            (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsOfGroup(columnCount)})`,
        ),
      ),
    );

  return {
    read,
    write,
    select: (those: readonly EventFile[], names: readonly string[], hidden: SQL | null): SQL =>
      selectRows(read(those), new Set(those.flatMap((file) => file.columns)), names, hidden),

    /** Writes events to a new file; `query` leaves out what is erased. Returns null when nothing is left. */
    async writeEvents(query: SQL, names: readonly string[]): Promise<EventFile | null> {
      const file = await write('events', query, names.length);
      const written = clause`read_parquet(${literal(files.pathOf(file.name))})`;
      const [row] = await work((connection) =>
        run(connection, sql`SELECT count(*) AS events, min(sequence) AS first, max(sequence) AS last FROM ${written}`),
      );
      const events = Number(row?.events);
      if (events > 0) return { ...file, events, first: Number(row?.first), last: Number(row?.last), columns: names };
      await files.remove([file.name]);
      return null;
    },

    /** The last events of a file, to be compared with those of the store. */
    async readLast(file: EventFile): Promise<LastEvents> {
      const rows = await work((connection) =>
        run(
          connection,
          sql`SELECT * FROM (SELECT sequence, "user", contact, "eventID", "eventTime" FROM ${read([file])}
            ORDER BY sequence DESC LIMIT ${comparedEvents}) ORDER BY sequence`,
        ),
      );
      const column = (named: string) => Float64Array.from(rows, (row) => Number(row[named]));
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
