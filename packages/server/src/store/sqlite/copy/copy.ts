/**
 * Copies another database into a new file. The file is written under a temporary name and renamed when it is complete
 * and synced. An interrupted copy restarts.
 */
import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type DatabaseExport, type ExportedRow, exportedTables, type OnProgress } from '../../database-export.ts';
import type { EventRow } from '../../rules/event-row.ts';
import { createIdempotencyKeys, type SentByServer, toBytes } from '../../rules/idempotency-keys.ts';
import { StoreUnusable } from '../../unusable.ts';
import { type Connection, isTransient, openConnection } from '../database/connection.ts';
import { ensureFile, syncDirectory } from '../database/file.ts';
import { takeLock } from '../database/lock.ts';
import { createWriteEngine } from '../engine.ts';
import { createEventLogWriter, eventsPerSegment as defaultEventsPerSegment, holderOf } from '../event-log/event-log.ts';
import type { Tuning } from '../tuning.ts';

/** Sets the next sequence, day and row numbers. */
const writePosition = (db: Connection, { position, numbers }: DatabaseExport): void => {
  // `remembered` is the last sequence: all events' keys are written, so no server has to read them from the blocks.
  const columns = 'sequence = @sequence, remembered = @sequence, day = @day, clockDay = @clockDay, secret = @secret';
  db.prepare(`UPDATE position SET ${columns}`).run(position);
  const write = db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  for (const [table, greatest] of Object.entries(numbers)) write.run(table, greatest);
};

const copyTables = async (db: Connection, exported: DatabaseExport): Promise<void> => {
  for (const table of exportedTables) {
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const insert = db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
    );
    const insertAll = db.transaction((rows: readonly ExportedRow[]) => {
      for (const row of rows) insert.run(row);
    });
    for await (const rows of exported.rows(table)) insertAll(rows);
  }
};

/**
 * Writes events. The source has only keyed hashes of sent events. Each hash whose event exists is replaced with a row
 * of event_repeat, as a server would store it; the other hashes stay.
 */
const createEventCopier = (db: Connection, secret: Buffer) => {
  const log = createEventLogWriter(db);
  const { eventKey } = createIdempotencyKeys(secret);
  const daysWithKeys = new Set(db.prepare<[], number>('SELECT DISTINCT day FROM erased_repeat').pluck().all());
  const dropKey = db.prepare('DELETE FROM erased_repeat WHERE day = ? AND hash = ?');
  const insertName = db.prepare('INSERT INTO event_repeat (day, eventUUID, holder, server) VALUES (?, ?, ?, ?)');
  const insertOfEither = db.prepare('INSERT INTO event_repeat_of_either (day, eventUUID, holder) VALUES (?, ?, ?)');
  /** Deletes an event's keyed hash and returns its token kind; undefined if there is none. */
  const takeKey = (event: EventRow): SentByServer | undefined =>
    ([0, 1, null] as const).find((server) => {
      const key = toBytes(eventKey(holderOf(event), event.eventUUID, server));
      return dropKey.run(event.day, key).changes > 0;
    });
  return db.transaction((events: readonly EventRow[]) => {
    for (const event of events) {
      const { day, eventUUID } = event;
      const server = daysWithKeys.has(day) ? takeKey(event) : undefined;
      log.append({ ...event, server: server ?? null });
      if (server === null) insertOfEither.run(day, eventUUID, holderOf(event));
      else if (server !== undefined) insertName.run(day, eventUUID, holderOf(event), server);
    }
    log.flush();
  });
};

/** Throws StoreUnusable if the source's event counts are wrong or referenced rows are missing. */
const checkCompleteness = (db: Connection, events: number): void => {
  const counted = db.prepare<[], number>('SELECT coalesce(sum(count), 0) FROM account_day').pluck().get();
  if (events !== counted) {
    throw new StoreUnusable(`the source database is damaged: it should have ${counted} events but has ${events}`);
  }
  if (db.prepare('PRAGMA foreign_key_check').get() !== undefined) {
    throw new StoreUnusable('the source database is damaged: it has dangling references');
  }
};

const copyAll = async (
  db: Connection,
  exported: DatabaseExport,
  onProgress: OnProgress,
  tuning: Tuning,
): Promise<void> => {
  writePosition(db, exported);
  await copyTables(db, exported);
  const copyEvents = createEventCopier(db, exported.position.secret);
  const last = exported.position.sequence;
  const { eventsPerSegment = defaultEventsPerSegment } = tuning;
  let copied = 0;
  let indexed = 0;
  for await (const events of exported.eventsAfter(0)) {
    const end = events.at(-1);
    if (!end) continue;
    copyEvents(events);
    copied += events.length;
    onProgress({ sequence: end.sequence, last, events: copied });
    // Indexes the events, as a server does between commits: otherwise, the first reader would index millions of events
    // in memory. Indexes whole segments only, because each call examines all waiting events.
    if (copied - indexed < eventsPerSegment) continue;
    const engine = createWriteEngine(db, tuning);
    while (engine.catchUp());
    indexed = copied;
  }
  checkCompleteness(db, copied);
};

/**
 * Checkpoints the write-ahead log into the file, because the copy is renamed without its log. Throws if the disk is
 * full, or if another connection is reading the file.
 */
const completeFile = (db: Connection): void => {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy === 0) return;
  throw new StoreUnusable(`${db.name} is being read, so the copy cannot be completed: close the reader and copy again`);
};

const fileExists = (name: string) => new StoreUnusable(`${name} already exists: a copy never replaces a file`);

/** Creates the file at `path` from an export. Throws StoreUnusable if it exists. */
export const copyInto = async (
  path: string,
  exported: DatabaseExport,
  onProgress: OnProgress,
  tuning: Tuning = {},
): Promise<void> => {
  // Refuses leftover files, because SQLite would apply a leftover log or journal to the new file. lstat also finds
  // dangling links.
  for (const name of [path, `${path}-wal`, `${path}-journal`]) {
    if (lstatSync(name, { throwIfNoEntry: false })) throw fileExists(name);
  }
  mkdirSync(dirname(path), { recursive: true });
  const unlock = takeLock(path);
  const draft = `${path}.copying`;
  const drop = () => {
    for (const name of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(name, { force: true });
  };
  try {
    drop();
    ensureFile(draft);
    const db = openConnection(draft, 'write');
    try {
      // Syncs the file once, at the end. References are also checked at the end, because a contact can be merged into
      // one that is copied later.
      db.pragma('synchronous = OFF');
      db.pragma('foreign_keys = OFF');
      await copyAll(db, exported, onProgress, tuning);
      completeFile(db);
    } finally {
      db.close();
    }
    const descriptor = openSync(draft, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
    linkSync(draft, path);
    syncDirectory(dirname(path));
  } catch (error) {
    // Another process has created the file in the meantime.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(path);
    if (isTransient(error))
      throw new StoreUnusable(`${path} cannot be created: ${(error as Error).message}`, { cause: error });
    throw error;
  } finally {
    drop();
    unlock();
  }
};
