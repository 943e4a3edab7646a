/** Files of Parquet with events as getEvent lists them, for the customer's own tools (`firsthand export`). */
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

/** DuckDB's vector size: a chunk holds no more rows. */
const rowsOfChunk = 2048;
const memoryLimit = '512MiB';

interface Column {
  readonly name: string;
  readonly type: DuckDBType;
  readonly sqlType: string;
  /** How the file's column is made of it. */
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
  for (let first = 0; first < events.length; first += rowsOfChunk) {
    const rows = events.slice(first, first + rowsOfChunk);
    const chunk = DuckDBDataChunk.create(
      columns.map(({ type }) => type),
      rows.length,
    );
    for (const [index, { of }] of columns.entries()) chunk.setColumnValues(index, rows.map(of) as never);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
};

const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

const quoted = (path: string): string => `'${path.replaceAll("'", "''")}'`;

interface ExportedFiles {
  readonly files: readonly string[];
  readonly events: number;
}

/**
 * Writes pages of events to `events-00001.parquet` and further files in a folder, which must be empty or new. A file is whole once it has its
 * name. Rejects when the folder holds something.
 */
export const writeParquet = async (
  folder: string,
  pages: AsyncIterable<readonly StoredEvent[]>,
  { eventsOfFile = 1_000_000 } = {},
): Promise<ExportedFiles> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: choose a new folder`);
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: memoryLimit });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await connection.run(
    `CREATE TABLE events (${columns.map(({ name, sqlType }) => `"${name}" ${sqlType}`).join(', ')})`,
  );
  const selected = columns.map(({ name, sql }) => sql ?? `"${name}"`).filter(Boolean);
  const files: string[] = [];
  let events = 0;
  let waiting = 0;
  const write = async () => {
    const name = `events-${String(files.length + 1).padStart(5, '0')}.parquet`;
    const path = join(folder, name);
    await connection.run(
      `COPY (SELECT ${selected.join(', ')} FROM events) TO ${quoted(`${path}.part`)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    await sync(`${path}.part`);
    await rename(`${path}.part`, path);
    await connection.run('DELETE FROM events');
    files.push(name);
    waiting = 0;
  };
  try {
    for await (const page of pages) {
      await append(connection, page);
      events += page.length;
      waiting += page.length;
      if (waiting >= eventsOfFile) await write();
    }
    // An account without events has a file without rows, which tools can read.
    if (waiting > 0 || files.length === 0) await write();
    await sync(folder);
    return { files, events };
  } catch (error) {
    await Promise.all((await readdir(folder)).map((name) => rm(join(folder, name), { force: true })));
    throw error;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};
