/**
 * Taking over all that another database holds, into a new file. It is written under another name and gets its own when it is
 * complete and synced, so that half a copy is never taken for a database: one that is interrupted begins anew.
 */
import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CopyProgress, type HeldEvent, type HeldRow, type Holdings, heldTables } from '../holdings.ts';
import { createSentKeys, type SentByServer, toBytes } from '../sent-keys.ts';
import { StoreUnusable } from '../unusable.ts';
import type { Arrangement } from './arrangement.ts';
import { type Connection, isNotNow, openConnection } from './connection.ts';
import { createWriteEngine } from './engine.ts';
import { createBlockWriter } from './event-blocks.ts';
import { ensureFile, syncDirectory } from './file.ts';
import { eventsPerSegment as usualEventsPerSegment } from './indexing.ts';
import { takeLock } from './lock.ts';
import { visitorOf } from './visitors.ts';

/** From where on the order, the days and the numbers go on. */
const writePosition = (db: Connection, { position, numbers }: Holdings): void => {
  // `remembered`: what a server would look up of the blocks is written along with them.
  const columns = 'sequence = @sequence, remembered = @sequence, day = @day, clockDay = @clockDay, secret = @secret';
  db.prepare(`UPDATE position SET ${columns}`).run(position);
  const write = db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  for (const [table, greatest] of Object.entries(numbers)) write.run(table, greatest);
};

const copyTables = async (db: Connection, holdings: Holdings): Promise<void> => {
  for (const table of heldTables) {
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const insert = db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
    );
    const insertAll = db.transaction((rows: readonly HeldRow[]) => {
      for (const row of rows) insert.run(row);
    });
    for await (const rows of holdings.rows(table)) insertAll(rows);
  }
};

/**
 * Writes events. That they were sent, which is known by a key so far, is known by their names from here on, as of those that
 * are kept in a file; a key whose event is not there any more stays one.
 */
const createEventCopier = (db: Connection, secret: Buffer) => {
  const blocks = createBlockWriter(db);
  const { eventKey } = createSentKeys(secret);
  const daysKept = new Set(db.prepare<[], number>('SELECT DISTINCT day FROM erased_repeat').pluck().all());
  const dropKey = db.prepare('DELETE FROM erased_repeat WHERE day = ? AND hash = ?');
  const insertName = db.prepare('INSERT INTO event_repeat (day, eventUUID, holder, server) VALUES (?, ?, ?, ?)');
  const insertOfEither = db.prepare('INSERT INTO event_repeat_of_either (day, eventUUID, holder) VALUES (?, ?, ?)');
  /** Which kind of token sent the event, as its key says; undefined when there is none. */
  const takeKey = (event: HeldEvent): SentByServer | undefined =>
    ([0, 1, null] as const).find((server) => {
      const key = toBytes(eventKey(visitorOf(event), event.eventUUID, server));
      return dropKey.run(event.day, key).changes > 0;
    });
  return db.transaction((events: readonly HeldEvent[]) => {
    for (const event of events) {
      const { day, eventUUID } = event;
      const server = daysKept.has(day) ? takeKey(event) : undefined;
      blocks.add({ ...event, server: server ?? null });
      if (server === null) insertOfEither.run(day, eventUUID, visitorOf(event));
      else if (server !== undefined) insertName.run(day, eventUUID, visitorOf(event), server);
    }
    blocks.flush();
  });
};

/** Throws when something was not there to be read. */
const assertWhole = (db: Connection, events: number): void => {
  const counted = db.prepare<[], number>('SELECT coalesce(sum(count), 0) FROM account_day').pluck().get();
  if (events !== counted) {
    throw new StoreUnusable(`the database to copy from is damaged: it counts ${counted} events, and holds ${events}`);
  }
  if (db.prepare('PRAGMA foreign_key_check').get() !== undefined) {
    throw new StoreUnusable('the database to copy from is damaged: rows of it refer to others that are not there');
  }
};

/** As a server does beside what it keeps: whoever reads first is not to know millions of events by heart. */
const arrange = (db: Connection, arrangement: Arrangement): void => {
  const engine = createWriteEngine(db, arrangement);
  while (engine.catchUp());
};

const copyAll = async (
  db: Connection,
  holdings: Holdings,
  tell: (progress: CopyProgress) => void,
  arrangement: Arrangement,
): Promise<void> => {
  writePosition(db, holdings);
  await copyTables(db, holdings);
  const copyEvents = createEventCopier(db, holdings.position.secret);
  const last = holdings.position.sequence;
  const { eventsPerSegment = usualEventsPerSegment } = arrangement;
  let copied = 0;
  let arranged = 0;
  for await (const events of holdings.eventsAfter(0)) {
    const end = events.at(-1);
    if (!end) continue;
    copyEvents(events);
    copied += events.length;
    tell({ sequence: end.sequence, last, events: copied });
    // A segment at a time: each looks for what waits for it, which is not to be all there is.
    if (copied - arranged < eventsPerSegment) continue;
    arrange(db, arrangement);
    arranged = copied;
  }
  assertWhole(db, copied);
};

/** Brings the log into the file: a part of the copy that stays in it goes with it. Throws when there is no room. */
const completeFile = (db: Connection): void => {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy === 0) return;
  throw new StoreUnusable(
    `${db.name} is being read, so that the copy cannot be completed: leave it alone, and copy again`,
  );
};

const exists = (name: string) => new StoreUnusable(`${name} exists already: a copy never replaces a file`);

/** Makes the file at `path` of all that there is; throws StoreUnusable when there is one. */
export const copyInto = async (
  path: string,
  holdings: Holdings,
  tell: (progress: CopyProgress) => void,
  arrangement: Arrangement = {},
): Promise<void> => {
  // A log or a journal that was left behind is read as part of whatever has the name. A link is there wherever it leads.
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
      // Synced as a whole. What refers to what is looked at as a whole too: a contact may be merged into a later one.
      db.pragma('synchronous = OFF');
      db.pragma('foreign_keys = OFF');
      await copyAll(db, holdings, tell, arrangement);
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
    // Made by somebody else meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path);
    if (isNotNow(error))
      throw new StoreUnusable(`${path} cannot be made: ${(error as Error).message}`, { cause: error });
    throw error;
  } finally {
    drop();
    unlock();
  }
};
