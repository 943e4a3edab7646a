/** A PostgreSQL that npm brings, in a folder of its own, with its settings but for memory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, stopPostgres, urlOf } from '../../test/fixtures/postgres-server.ts';
import { childrenOf, cpuSeconds } from './process.ts';

/** Asks a database something on a connection of its own. */
export const ask = async <Result>(
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
  /** Makes an empty database, and answers its URL. */
  createDatabase(name: string): Promise<string>;
  /** What its processes have taken of the processor so far. */
  cpuSeconds(): number;
}

/** Runs something beside a PostgreSQL that is deleted afterwards. */
export const withPostgres = async <Value>(use: (postgres: OwnPostgres) => Promise<Value>): Promise<Value> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-postgres-'));
  await startPostgres(folder);
  try {
    return await use({
      async createDatabase(name) {
        await ask(urlOf(folder, 'postgres'), (client) => client.query(`CREATE DATABASE ${name}`));
        return urlOf(folder, name);
      },
      cpuSeconds() {
        // Its first process has started the others.
        const pid = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
        return childrenOf(pid).reduce((sum, child) => sum + (cpuSeconds(child) ?? 0), 0);
      },
    });
  } finally {
    await stopPostgres(folder, 'immediate');
    rmSync(folder, { recursive: true });
  }
};
