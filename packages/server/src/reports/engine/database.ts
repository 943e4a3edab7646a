/** Opens DuckDB restricted to one folder, without extensions, and locks this configuration. */
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { EngineSettings } from '../messages.ts';

/** The subfolder for data that does not fit in memory. A later process can't use its files. */
export const spillFolder = 'spill';
const maxSpilledBytes = 8 * 2 ** 30;
/** The maximum fraction of the free disk space that DuckDB may use. The rest is left for the database. */
const maxFreeSpaceShare = 0.5;

/** The name of the file that the process locks while it uses the folder. */
const lockName = 'lock';
/** How long to wait for the lock: a killed server's report process might still be exiting. */
const lockMilliseconds = 5_000;

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * Locks a file until the database is closed, and creates it if needed. DuckDB locks an attached database until its
 * process exits (fcntl(2)). Rejects with `message` if another process has the lock.
 */
export const lockFile = async (connection: DuckDBConnection, path: string, message: string): Promise<void> => {
  for (const deadline = Date.now() + lockMilliseconds; ; await wait(50)) {
    try {
      await connection.run(`ATTACH ${quote(path)} AS lock`);
      return;
    } catch (cause) {
      if (!/set lock/.test((cause as Error).message)) throw cause;
      if (Date.now() > deadline) throw new Error(message, { cause });
    }
  }
};

const computeSpillLimit = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(maxSpilledBytes, maxFreeSpaceShare * bavail * bsize);
};

/**
 * Opens the database. The working directory must be `folder`, because all other SQL uses file paths relative to it.
 */
export const openDatabase = async ({ folder, memoryBytes, threads }: EngineSettings): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${Math.round(memoryBytes / 2 ** 20)}MiB`,
    threads: String(threads),
    temp_directory: join(folder, spillFolder),
    max_temp_directory_size: `${Math.floor(computeSpillLimit(folder) / 2 ** 20)}MiB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  await lockFile(
    connection,
    join(folder, lockName),
    `another server uses the reports folder ${folder}: give each server its own REPORTS_DIR`,
  );
  rmSync(join(folder, spillFolder), { recursive: true, force: true });
  mkdirSync(join(folder, spillFolder), { mode: 0o700 });
  await connection.run(`SET allowed_directories = [${quote(folder)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
};

/** Runs `work` with a separate connection. */
export const withConnection = async <Value>(
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
