/** Starts a private PostgreSQL for a test file, and creates a folder for modified servers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { querySQL } from '../../fixtures/postgres/databases.ts';
import { getDatabaseURL, startPostgres, stopPostgres } from '../../fixtures/postgres/server.ts';
import { createTestAccountIn } from '../../tools/server-process.ts';

/** Starts PostgreSQL before the file's first test. After the last test, stops it and deletes both folders. */
export const useOwnPostgres = () => {
  let folder: string;
  let cluster: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'firsthand-servers-'));
    cluster = mkdtempSync(join(tmpdir(), 'firsthand-postgres-'));
    await startPostgres(cluster);
  });
  afterAll(async () => {
    await stopPostgres(cluster, 'immediate');
    rmSync(cluster, { recursive: true });
    rmSync(folder, { recursive: true });
  });
  return {
    /** The folder for modified servers. */
    folder: () => folder,
    start: () => startPostgres(cluster),
    /** Stops PostgreSQL as if its machine lost power. */
    stop: () => stopPostgres(cluster, 'immediate'),
    /** Creates a database with an account. Returns its URL and the account's server token. */
    async createDatabase(name: string): Promise<{ databaseURL: string; token: string }> {
      await querySQL(getDatabaseURL(cluster, 'postgres'), `CREATE DATABASE ${name}`);
      const databaseURL = getDatabaseURL(cluster, name);
      return { databaseURL, token: await createTestAccountIn(databaseURL) };
    },
  };
};
