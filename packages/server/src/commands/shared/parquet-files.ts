/** Writes events as Parquet files, with the fields of getEvent, for other tools (`firsthand export`). */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BIGINT,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBType,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import type { StoredEvent } from '../../store/store.ts';

/** DuckDB's vector size, the maximum number of rows of a chunk. */
const rowsPerChunk = 2048;
const memoryLimit = '512MiB';

interface Column {
  readonly name: string;
  readonly type: DuckDBType;
  readonly sqlType: string;
  /** The SQL expression of the file's column; by default, the column itself. */
  readonly sql?: string;
  of(event: StoredEvent): unknown;
}

const column = (name: string, type: DuckDBType, sqlType: string, of: Column['of'], sql?: string): Column => ({
  name,
  type,
  sqlType,
  of,
  ...(sql !== undefined && { sql }),
});
const text = (name: string, of: (event: StoredEvent) => string): Column =>
  column(name, VARCHAR, 'VARCHAR', (event) => of(event) || null);
const time = (name: string, of: (event: StoredEvent) => number): Column =>
  column(name, BIGINT, 'BIGINT', (event) => BigInt(of(event)), `epoch_ms("${name}")::TIMESTAMPTZ AS "${name}"`);
const texts = (name: string, of: (event: StoredEvent) => readonly string[]): Column =>
  column(name, LIST(VARCHAR), 'VARCHAR[]', (event) => listValue([...of(event)]));

const columns: readonly Column[] = [
  column('sequence', BIGINT, 'BIGINT', ({ sequence }) => BigInt(sequence)),
  text('eventUUID', ({ eventUUID }) => eventUUID),
  column('eventID', INTEGER, 'INTEGER', ({ eventID }) => eventID),
  text('eventName', ({ eventName }) => eventName),
  time('eventTime', ({ eventTime }) => eventTime),
  time('receivedTime', ({ receivedTime }) => receivedTime),
  text('userUUID', ({ userUUID }) => userUUID),
  text('contactUUID', ({ contactUUID }) => contactUUID),
  { ...texts('keys', ({ attributes }) => attributes.map(([attrID]) => attrID)), sql: 'map(keys, texts) AS attributes' },
  { ...texts('texts', ({ attributes }) => attributes.map(([, value]) => value)), sql: '' },
];

const append = async (connection: DuckDBConnection, events: readonly StoredEvent[]): Promise<void> => {
  const appender = await connection.createAppender('events');
  for (let first = 0; first < events.length; first += rowsPerChunk) {
    const rows = events.slice(first, first + rowsPerChunk);
    const chunk = DuckDBDataChunk.create(
      columns.map(({ type }) => type),
      rows.length,
    );
    for (const [index, { of }] of columns.entries()) chunk.setColumnValues(index, rows.map(of) as never);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
};

const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

const quote = (path: string): string => `'${path.replaceAll("'", "''")}'`;

interface ExportedFiles {
  readonly files: readonly string[];
  readonly events: number;
}

/**
 * Writes pages of events to `events-00001.parquet`, `events-00002.parquet` and so on. A file gets its name once it is
 * complete. Rejects unless the folder is empty or new.
 */
export const writeParquet = async (
  folder: string,
  pages: AsyncIterable<readonly StoredEvent[]>,
  { eventsPerFile = 1_000_000 } = {},
): Promise<ExportedFiles> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: choose a new folder`);
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: memoryLimit });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await connection.run(
    `CREATE TABLE events (${columns.map(({ name, sqlType }) => `"${name}" ${sqlType}`).join(', ')})`,
  );
  const selectList = columns.map(({ name, sql }) => sql ?? `"${name}"`).filter(Boolean);
  const files: string[] = [];
  let events = 0;
  let pendingEvents = 0;
  const write = async () => {
    const name = `events-${String(files.length + 1).padStart(5, '0')}.parquet`;
    const path = join(folder, name);
    await connection.run(
      `COPY (SELECT ${selectList.join(', ')} FROM events) TO ${quote(`${path}.part`)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    await syncFile(`${path}.part`);
    await rename(`${path}.part`, path);
    await connection.run('DELETE FROM events');
    files.push(name);
    pendingEvents = 0;
  };
  try {
    for await (const page of pages) {
      await append(connection, page);
      events += page.length;
      pendingEvents += page.length;
      if (pendingEvents >= eventsPerFile) await write();
    }
    // An account without events gets a file without rows, which tools can read.
    if (pendingEvents > 0 || files.length === 0) await write();
    await syncFile(folder);
    return { files, events };
  } catch (error) {
    await Promise.all((await readdir(folder)).map((name) => rm(join(folder, name), { force: true })));
    throw error;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};
