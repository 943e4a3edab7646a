import { existsSync } from 'node:fs';
import type { DatabaseExport, ExportedRow, ExportedTable } from '../../database-export.ts';
import { recordAudit } from '../../operations/audit.ts';
import { StoreUnusable } from '../../unusable.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { takeLock } from '../database/lock.ts';
import { migrate } from '../database/migrate.ts';
import { createWriteEngine } from '../engine.ts';
import { createEventLogReader, createEventLogWriter, eventsOf } from '../event-log/event-log.ts';
import { createRecentKeys } from '../events/recent-keys.ts';
import { createRollups } from '../events/rollups.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createSequencer } from '../transactions/sequencer.ts';

/**
 * Finishes pending work: writes keys and rollups, and detaches erased contacts, because a copy cannot contain
 * unfinished erasures.
 */
const settle = (db: Connection): void => {
  const recentKeys = createRecentKeys(db, createSequencer(db), createEventLogWriter(db));
  const rollups = createRollups(db);
  db.transaction(() => {
    recentKeys.settle();
    rollups.settle();
  }).immediate();
  createWriteEngine(db).detachAll();
};

const rowsPerChunk = 1_000;

function* toChunks(rows: Iterable<ExportedRow>): Generator<ExportedRow[]> {
  let chunk: ExportedRow[] = [];
  for (const row of rows) {
    if (chunk.push(row) < rowsPerChunk) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}

/**
 * Opens a file for copying, and prevents servers from opening it until it is closed. Throws StoreUnusable if a server
 * has it open.
 */
export const openExport = (path: string) => {
  if (!existsSync(path)) throw new StoreUnusable(`there is no database at ${path}`);
  const unlock = takeLock(path);
  const db = openConnection(path, 'write');
  const close = () => {
    db.close();
    unlock();
  };
  try {
    migrate(db, path);
    settle(db);
    createOperationRunner(db)(recordAudit({ action: 'copy', subject: {}, by: null, time: Date.now() }));
  } catch (error) {
    close();
    throw error;
  }
  const log = createEventLogReader(db);
  const maxNumber = db
    .prepare<[string], number>('SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?')
    .pluck();
  const numberOf = (table: string) => maxNumber.get(table) as number;
  return {
    position: db.prepare('SELECT sequence, day, clockDay, secret FROM position').get() as DatabaseExport['position'],
    numbers: { contact: numberOf('contact'), claim: numberOf('claim'), refused_request: numberOf('refused_request') },
    rows: (table: ExportedTable) => toChunks(db.prepare<[], ExportedRow>(`SELECT * FROM ${table}`).iterate()),
    *eventsAfter(sequence: number) {
      for (const { block } of log.blocksAfter(sequence)) {
        yield eventsOf(block).filter((event) => event.sequence > sequence);
      }
    },
    close,
  } satisfies DatabaseExport;
};
