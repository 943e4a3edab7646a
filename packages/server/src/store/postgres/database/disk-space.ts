/** Checks whether PostgreSQL's disk is full. */
import { createDiskSpaceCheck, type DiskSpaceCheck } from '../../disk-space.ts';
import { type ConnectionPool, codeOf } from './connection.ts';

/** The SQLSTATE disk_full. */
const diskFull = '53100';

/** Writes 256 KiB of rows, more than a typical commit, and rolls them back. */
const probeSQL = `
  BEGIN;
  CREATE TABLE room AS SELECT repeat('x', 220) AS filler FROM generate_series(1, 1024);
  ROLLBACK`;

export const createPostgresSpaceCheck = (pool: ConnectionPool): DiskSpaceCheck =>
  createDiskSpaceCheck(
    (cause) => codeOf(cause) === diskFull,
    async () => {
      const db = await pool.take();
      try {
        await db.script(probeSQL);
      } finally {
        await db.rollBack().finally(() => db.release(false));
      }
    },
  );
