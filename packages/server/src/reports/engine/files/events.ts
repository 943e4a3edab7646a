/** An account's events: in files, and newer events in the table `tail_<account>_<number>`. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { EventFeedPage } from '../../../store/report-feed.ts';
import type { EngineSettings, LastEvents } from '../../messages.ts';
import type { Snapshot } from '../source.ts';
import { list, name, or, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { appendEvents } from './append-events.ts';
import { type Columns, defineColumn, fixedColumns } from './columns.ts';
import type { Erasures } from './erasures.ts';
import type { EventFile, Manifest } from './files.ts';
import { nextNumber, type ParquetFiles, selectRows, type Work } from './parquet-files.ts';
import type { NumberedSessions } from './visitors.ts';

/** The tail is written to a file once it takes this fraction of memory. */
const maxMemoryShare = 0.25;

interface Tail {
  readonly table: SQL;
  readonly columns: string[];
  events: number;
  bytes: number;
}

const createTail = async (account: number, work: Work): Promise<Tail> => {
  const table = name(`tail_${account}_${nextNumber()}`);
  const columns = Object.keys(fixedColumns);
  await work((connection) => run(connection, sql`CREATE TABLE ${table} (${list(columns.map(defineColumn))})`));
  return { table, columns, events: 0, bytes: 0 };
};

const selectTail = ({ table, columns }: Tail, names: readonly string[], hidden: SQL | null): SQL =>
  selectRows(table, new Set(columns), names, hidden);

/** Creates queries for the events up to `through`, whose results do not change while events are appended. */
const createSnapshot = (
  parquetFiles: ParquetFiles,
  files: readonly EventFile[],
  { table, columns }: Tail,
  hidden: SQL | null,
  through: number,
): Pick<Snapshot, 'select' | 'parts'> => {
  const tailColumns = new Set(columns);
  const isLater = sql`e.sequence > ${through}`;
  const selectNewer = (names: readonly string[]) =>
    selectRows(table, tailColumns, names, hidden === null ? isLater : or([hidden, isLater]));
  return {
    select: (names) => parquetFiles.selectWith(files, names, hidden, selectNewer(names)),
    parts: (names) => [...files.map((file) => parquetFiles.select([file], names, hidden)), selectNewer(names)],
  };
};

/**
 * Returns the index of the first file to merge the tail with. Merging small files limits the number of files and of
 * rewrites.
 */
const findFirstToMerge = (files: readonly EventFile[], tailEvents: number, eventsPerFile: number): number => {
  let first = files.length;
  let count = tailEvents;
  for (let file = files[first - 1]; file && file.events < 2 * count && file.events + count <= eventsPerFile; ) {
    first -= 1;
    count += file.events;
    file = files[first - 1];
  }
  return first;
};

const drop = async (connection: DuckDBConnection, table: SQL): Promise<void> => {
  await run(connection, sql`DROP TABLE IF EXISTS ${table}`);
};

interface Dependencies {
  readonly account: number;
  readonly storedFiles: readonly EventFile[];
  readonly parquetFiles: ParquetFiles;
  readonly erasures: Erasures;
  readonly work: Work;
  readonly settings: Pick<EngineSettings, 'eventsPerFile' | 'memoryBytes'>;
}

export const openEvents = async ({ account, storedFiles, parquetFiles, erasures, work, settings }: Dependencies) => {
  const { eventsPerFile, memoryBytes } = settings;
  let files = storedFiles;
  let tail = await createTail(account, work);

  /** For each file, the erasure generation as of which it is known to contain no erased events. */
  const cleanGenerations = new Map(files.map(({ name }) => [name, erasures.generation]));
  const isClean = ({ name, first }: EventFile): boolean =>
    cleanGenerations.get(name) === erasures.generation && first >= erasures.firstSequence;
  /** Whether no file contains erased events. */
  const isPurged = (): boolean => files.every(isClean);

  const writeFile = async (query: SQL, names: readonly string[]): Promise<EventFile | null> => {
    const { generation } = erasures;
    const file = await parquetFiles.writeEvents(query, names);
    if (file) cleanGenerations.set(file.name, generation);
    return file;
  };

  return {
    isTailFull: (): boolean => tail.events >= eventsPerFile || tail.bytes >= maxMemoryShare * memoryBytes,
    /** Returns the last events in the files; null if there are none. */
    async readLast(): Promise<LastEvents | null> {
      const file = files.at(-1);
      return file ? parquetFiles.readLast(file) : null;
    },
    /** The state to store in the manifest. */
    get stored(): Pick<Manifest, 'events' | 'through'> {
      // Ends at this account's last event: the feed's last sequence number might belong to another account's event, and
      // this account might reuse it after a backup is restored.
      return { events: files, through: files.at(-1)?.last ?? 0 };
    },
    get tailEvents(): number {
      return tail.events;
    },
    /** Returns a query for all events, including those still to be removed. */
    selectAll: (names: readonly string[]): SQL =>
      parquetFiles.selectWith(files, names, null, selectTail(tail, names, null)),
    snapshot: (through: number) => createSnapshot(parquetFiles, files, tail, erasures.condition, through),
    async append(connection: DuckDBConnection, columns: Columns, fed: EventFeedPage, sessions: NumberedSessions) {
      tail.bytes += await appendEvents(connection, tail.table, tail.columns, columns, fed, sessions);
      tail.events += fed.count;
    },
    /**
     * Writes the tail to a file. Returns the names of the files merged into it, and a function that drops the previous
     * tail: reports might still read these files and the tail.
     */
    async writeTail() {
      const first = findFirstToMerge(files, tail.events, eventsPerFile);
      const merged = files.slice(first);
      const columns = [...new Set([...merged.flatMap((file) => file.columns), ...tail.columns])];
      const hidden = erasures.condition;
      const rows = parquetFiles.selectWith(merged, columns, hidden, selectTail(tail, columns, hidden));
      const file = await writeFile(rows, columns);
      const { table } = tail;
      tail = await createTail(account, work);
      files = [...files.slice(0, first), ...(file ? [file] : [])];
      return {
        names: merged.map(({ name }) => name),
        dropTail: (connection: DuckDBConnection) => drop(connection, table),
      };
    },
    isPurged,
    /**
     * Removes erased events from a file that might contain some. Returns the name of the replaced file; null if no file
     * was replaced.
     */
    async purgeFile(): Promise<string | null> {
      const hidden = erasures.condition ?? sql`false`;
      const file = files.find((each) => !isClean(each));
      if (file === undefined) return null;
      const [row] = await work((connection) =>
        run(connection, sql`SELECT count(*) AS erased FROM ${parquetFiles.read([file])} e WHERE ${hidden}`),
      );
      if (Number(row?.erased) === 0) {
        cleanGenerations.set(file.name, erasures.generation);
        return null;
      }
      const rest = await writeFile(parquetFiles.select([file], file.columns, hidden), file.columns);
      files = files.flatMap((each) => (each !== file ? each : (rest ?? [])));
      return file.name;
    },
    /** Once all files are clean, removes erased events from the tail. Returns whether all files are clean. */
    async purgeTail(): Promise<boolean> {
      if (!isPurged()) return false;
      const erased = sql`SELECT e.sequence FROM ${tail.table} e WHERE ${erasures.condition ?? sql`false`}`;
      await work((connection) => run(connection, sql`DELETE FROM ${tail.table} WHERE sequence IN ${erased}`));
      return true;
    },
    drop: (connection: DuckDBConnection): Promise<void> => drop(connection, tail.table),
  };
};
