import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from './database.ts';

const outside = realpathSync(mkdtempSync(join(tmpdir(), 'firsthand-reports-')));
const folder = join(outside, 'reports');
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
afterAll(() => {
  server.close();
  rmSync(outside, { recursive: true });
});

test('confines DuckDB to its folder, without network access, and locks its configuration', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  writeFileSync(join(outside, 'private.csv'), 'a,b\n1,2\n');
  mkdirSync(folder);
  const instance = await openDatabase({ folder, memoryBytes: 64 * 2 ** 20, threads: 1, eventsPerFile: 1, niceness: 0 });
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT 1 AS a) TO '${folder}/inside.parquet'`);
  expect((await connection.runAndReadAll(`SELECT * FROM '${folder}/inside.parquet'`)).getRows()).toEqual([[1]]);
  const attempts = [
    `SELECT * FROM read_csv('${outside}/private.csv')`,
    `SELECT * FROM read_text('${folder}/../private.csv')`,
    `SELECT * FROM '${outside}/private.csv'`,
    `SELECT * FROM glob('${outside}/*')`,
    "SELECT * FROM read_blob('/proc/self/environ')",
    `COPY (SELECT 1) TO '${outside}/written.csv'`,
    `ATTACH '${outside}/attached.db'`,
    `EXPORT DATABASE '${outside}/exported'`,
    `SELECT * FROM read_csv('http://127.0.0.1:${port}/')`,
    `SELECT * FROM read_parquet('s3://127.0.0.1:${port}/a')`,
    `ATTACH 'http://127.0.0.1:${port}/a.db'`,
    'INSTALL httpfs',
    'LOAD httpfs',
    `LOAD '${outside}/x.duckdb_extension'`,
    'SET enable_external_access = true',
    "SET allowed_directories = ['/']",
    'SET lock_configuration = false',
    "SET memory_limit = '10GB'",
    `SET temp_directory = '${outside}'`,
  ];
  for (const attempt of attempts) await expect(connection.run(attempt), attempt).rejects.toThrow();
  expect(connections).toBe(0);
  connection.closeSync();
  instance.closeSync();
});
