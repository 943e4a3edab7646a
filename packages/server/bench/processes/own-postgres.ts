/** Runs the PostgreSQL server that npm installs, in a separate folder, with default settings except for memory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  getDatabaseURL,
  type ServerOptions,
  startPostgres,
  stopPostgres,
} from '../../test/fixtures/postgres/server.ts';
import { cpuSeconds, listChildren, readExitedCPUSeconds } from './process.ts';

/** Calls `work` with a separate connection. */
export const withClient = async <Result>(
  databaseURL: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client(databaseURL);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

export interface OwnPostgres {
  /** Creates an empty database, and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** The CPU time that all its processes have used so far. */
  cpuSeconds(): number;
}

/** The CPU time of all processes of the PostgreSQL server in a folder, including exited processes. */
export const readPostgresCPUSeconds = (folder: string): number => {
  // The postmaster is the parent of the other processes.
  const pid = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  return listChildren(pid).reduce((sum, child) => sum + (cpuSeconds(child) ?? 0), readExitedCPUSeconds(pid) ?? 0);
};

/** Calls `use` with a PostgreSQL server that is deleted afterwards. */
export const withPostgres = async <Value>(
  use: (postgres: OwnPostgres) => Promise<Value>,
  options: Pick<ServerOptions, 'bin'> = {},
): Promise<Value> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-postgres-'));
  await startPostgres(folder, options);
  try {
    return await use({
      async createDatabase(name) {
        await withClient(getDatabaseURL(folder, 'postgres'), (client) => client.query(`CREATE DATABASE ${name}`));
        return getDatabaseURL(folder, name);
      },
      cpuSeconds: () => readPostgresCPUSeconds(folder),
    });
  } finally {
    await stopPostgres(folder, 'immediate', options);
    rmSync(folder, { recursive: true });
  }
};
