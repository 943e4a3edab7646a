import { existsSync } from 'node:fs';
import type { HeldRow, HeldTable, Holdings } from '../holdings.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAuditWriter } from './audit.ts';
import { type Connection, openConnection } from './connection.ts';
import { createWriteEngine } from './engine.ts';
import { eventsOf } from './event-block.ts';
import { createBlockReader, createBlockWriter } from './event-blocks.ts';
import { takeLock } from './lock.ts';
import { migrate } from './migrate.ts';
import { createPosition } from './position.ts';
import { createRecentRepeats } from './recent-repeats.ts';
import { createTotals } from './totals.ts';

/** Writes what waits for it into its place, and completes what others must not see incomplete. */
const settle = (db: Connection): void => {
  const latest = createRecentRepeats(db, createPosition(db), createBlockWriter(db));
  const totals = createTotals(db);
  db.transaction(() => {
    latest.settle();
    totals.settle();
  }).immediate();
  createWriteEngine(db).detachAll();
};

const rowsPerPart = 1_000;

function* inParts(rows: Iterable<HeldRow>): Generator<HeldRow[]> {
  let part: HeldRow[] = [];
  for (const row of rows) {
    if (part.push(row) < rowsPerPart) continue;
    yield part;
    part = [];
  }
  yield part;
}

/** All that a file holds. Until it is closed no server can have it; throws StoreUnusable when one has. */
export const openHoldings = (path: string) => {
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
    createAuditWriter(db).recordAudit({ action: 'copy', subject: {}, by: null, time: Date.now() });
  } catch (error) {
    close();
    throw error;
  }
  const blocks = createBlockReader(db);
  const greatest = db
    .prepare<[string], number>('SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?')
    .pluck();
  const numberOf = (table: string) => greatest.get(table) as number;
  return {
    position: db.prepare('SELECT sequence, day, clockDay, secret FROM position').get() as Holdings['position'],
    numbers: {
      contact: numberOf('contact'),
      claim: numberOf('claim'),
      refused_request: numberOf('refused_request'),
    },
    rows: (table: HeldTable) => inParts(db.prepare<[], HeldRow>(`SELECT * FROM ${table}`).iterate()),
    *eventsAfter(sequence: number) {
      for (let stored = blocks.after(sequence); stored; stored = blocks.after(stored.through)) {
        yield eventsOf(stored.block).filter((event) => event.sequence > sequence);
      }
    },
    close,
  } satisfies Holdings;
};
