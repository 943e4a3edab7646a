/** DuckDB, closed: it reads and writes below one folder, loads nothing, and none of this can be changed afterwards. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { EngineSettings } from '../messages.ts';

/** What does not fit in memory, below the folder of reports. Its files are of no use to a later process. */
export const spillFolder = 'spill';
const mostSpilledBytes = 8 * 2 ** 30;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The process's current folder is the settings' folder: all other SQL names files relative to it. */
export const openDatabase = async ({ folder, memoryBytes, threads }: EngineSettings): Promise<DuckDBInstance> => {
  rmSync(join(folder, spillFolder), { recursive: true, force: true });
  mkdirSync(join(folder, spillFolder), { mode: 0o700 });
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${Math.round(memoryBytes / 2 ** 20)}MiB`,
    threads: String(threads),
    temp_directory: join(folder, spillFolder),
    max_temp_directory_size: `${mostSpilledBytes / 2 ** 20}MiB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`SET allowed_directories = [${quoted(folder)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
};

/** Runs `work` with a connection of its own. */
export const connected = async <Value>(
  instance: DuckDBInstance,
  work: (connection: DuckDBConnection) => Promise<Value>,
): Promise<Value> => {
  const connection = await instance.connect();
  try {
    return await work(connection);
  } finally {
    connection.closeSync();
  }
};
