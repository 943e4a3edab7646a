/** DuckDB, closed: it reads and writes below one folder, loads nothing, and none of this can be changed afterwards. */
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { EngineSettings } from '../messages.ts';

/** What does not fit in memory, below the folder of reports. Its files are of no use to a later process. */
export const spillFolder = 'spill';
const maxSpilledBytes = 8 * 2 ** 30;
/** The rest of the free space is left to the database. */
const maxFreeSpaceShare = 0.5;

/** The file that the one process that writes the folder holds a lock on. */
const lockFile = 'lock';
/** The process of a server that was killed may be ending. */
const lockMilliseconds = 5_000;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Rejects when another process has the folder. DuckDB locks a database that it has opened (fcntl(2)), until its process ends. */
const lock = async (connection: DuckDBConnection, folder: string): Promise<void> => {
  for (const deadline = Date.now() + lockMilliseconds; ; await wait(50)) {
    try {
      await connection.run(`ATTACH ${quoted(join(folder, lockFile))} AS lock`);
      return;
    } catch (cause) {
      if (!/set lock/.test((cause as Error).message)) throw cause;
      if (Date.now() > deadline)
        throw new Error(`another server keeps its reports in ${folder}: each needs a REPORTS_DIR of its own`, {
          cause,
        });
    }
  }
};

const bytesToSpill = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(maxSpilledBytes, maxFreeSpaceShare * bavail * bsize);
};

/** The process's current folder is the settings' folder: all other SQL names files relative to it. */
export const openDatabase = async ({ folder, memoryBytes, threads }: EngineSettings): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${Math.round(memoryBytes / 2 ** 20)}MiB`,
    threads: String(threads),
    temp_directory: join(folder, spillFolder),
    max_temp_directory_size: `${Math.floor(bytesToSpill(folder) / 2 ** 20)}MiB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  await lock(connection, folder);
  rmSync(join(folder, spillFolder), { recursive: true, force: true });
  mkdirSync(join(folder, spillFolder), { mode: 0o700 });
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
