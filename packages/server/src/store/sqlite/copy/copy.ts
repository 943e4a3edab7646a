/**
 * Copies all data of another database into a new file. The file is written under another name and gets its own when it is complete
 * and synced, so that an incomplete copy is never taken for a database. A copy that was interrupted starts again.
 */
import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type DatabaseExport, type ExportedRow, exportedTables, type Tell } from '../../database-export.ts';
import { createIdempotencyKeys, type SentByServer, toBytes } from '../../rules/idempotency-keys.ts';
import type { KeptEvent } from '../../rules/kept-event.ts';
import { StoreUnusable } from '../../unusable.ts';
import type { Arrangement } from '../arrangement.ts';
import { type Connection, isNotNow, openConnection } from '../database/connection.ts';
import { ensureFile, syncDirectory } from '../database/file.ts';
import { takeLock } from '../database/lock.ts';
import { createWriteEngine } from '../engine.ts';
import { createEventLogWriter, holderOf, eventsPerSegment as usualEventsPerSegment } from '../event-log/event-log.ts';

/** Sets where sequences, days and row numbers continue. */
const writePosition = (db: Connection, { position, numbers }: DatabaseExport): void => {
  // `remembered`: the keys of events are written with their blocks, so no server has to read them from there.
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
 * Writes events. The source has only a keyed hash for each event that was sent. Each hash whose event exists is replaced by a row
 * of event_repeat, as in any other file; the other hashes stay.
 */
const createEventCopier = (db: Connection, secret: Buffer) => {
  const log = createEventLogWriter(db);
  const { eventKey } = createIdempotencyKeys(secret);
  const daysWithKeys = new Set(db.prepare<[], number>('SELECT DISTINCT day FROM erased_repeat').pluck().all());
  const dropKey = db.prepare('DELETE FROM erased_repeat WHERE day = ? AND hash = ?');
  const insertName = db.prepare('INSERT INTO event_repeat (day, eventUUID, holder, server) VALUES (?, ?, ?, ?)');
  const insertOfEither = db.prepare('INSERT INTO event_repeat_of_either (day, eventUUID, holder) VALUES (?, ?, ?)');
  /** The kind of token that sent the event, found by its keyed hash; undefined when there is none. */
  const takeKey = (event: KeptEvent): SentByServer | undefined =>
    ([0, 1, null] as const).find((server) => {
      const key = toBytes(eventKey(holderOf(event), event.eventUUID, server));
      return dropKey.run(event.day, key).changes > 0;
    });
  return db.transaction((events: readonly KeptEvent[]) => {
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

/** Throws when the source lacked events that it counts, or rows that others refer to. */
const assertWhole = (db: Connection, events: number): void => {
  const counted = db.prepare<[], number>('SELECT coalesce(sum(count), 0) FROM account_day').pluck().get();
  if (events !== counted) {
    throw new StoreUnusable(`the database to copy from is damaged: it counts ${counted} events, and holds ${events}`);
  }
  if (db.prepare('PRAGMA foreign_key_check').get() !== undefined) {
    throw new StoreUnusable('the database to copy from is damaged: rows of it refer to others that are not there');
  }
};

const copyAll = async (
  db: Connection,
  exported: DatabaseExport,
  tell: Tell,
  arrangement: Arrangement,
): Promise<void> => {
  writePosition(db, exported);
  await copyTables(db, exported);
  const copyEvents = createEventCopier(db, exported.position.secret);
  const last = exported.position.sequence;
  const { eventsPerSegment = usualEventsPerSegment } = arrangement;
  let copied = 0;
  let arranged = 0;
  for await (const events of exported.eventsAfter(0)) {
    const end = events.at(-1);
    if (!end) continue;
    copyEvents(events);
    copied += events.length;
    tell({ sequence: end.sequence, last, events: copied });
    // Indexes the events, as a server does between commits: otherwise the first reader would index millions of them in memory.
    // One segment at a time: each call examines all events that wait, so these must not become all there are.
    if (copied - arranged < eventsPerSegment) continue;
    const engine = createWriteEngine(db, arrangement);
    while (engine.catchUp());
    arranged = copied;
  }
  assertWhole(db, copied);
};

/**
 * Writes the log back into the file, because the copy gets its name without its log. Throws when there is no room, or when somebody
 * reads the file.
 */
const completeFile = (db: Connection): void => {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy === 0) return;
  throw new StoreUnusable(
    `${db.name} is being read, so that the copy cannot be completed: leave it alone, and copy again`,
  );
};

const exists = (name: string) => new StoreUnusable(`${name} exists already: a copy never replaces a file`);

/** Creates the file at `path` from an export. Throws StoreUnusable when it exists. */
export const copyInto = async (
  path: string,
  exported: DatabaseExport,
  tell: Tell,
  arrangement: Arrangement = {},
): Promise<void> => {
  // A leftover log or journal would be read as part of the new file. lstat finds links too, wherever they lead.
  for (const name of [path, `${path}-wal`, `${path}-journal`]) {
    if (lstatSync(name, { throwIfNoEntry: false })) throw exists(name);
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
      // The file is synced once, as a whole. References are checked as a whole too: a contact may be merged into a later one.
      db.pragma('synchronous = OFF');
      db.pragma('foreign_keys = OFF');
      await copyAll(db, exported, tell, arrangement);
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
    // Another process created the file meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path);
    if (isNotNow(error))
      throw new StoreUnusable(`${path} cannot be made: ${(error as Error).message}`, { cause: error });
    throw error;
  } finally {
    drop();
    unlock();
  }
};
