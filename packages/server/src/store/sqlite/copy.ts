/**
 * Taking over all that another database holds, into a new file. It is written under another name and gets its own when it is
 * complete and synced, so that half a copy is never taken for a database: one that is interrupted begins anew.
 */
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CopyProgress, type Held, type HeldEvent, type HeldRow, type Holdings, heldTables } from '../holdings.ts';
import { createSentKeys, toBytes } from '../sent-keys.ts';
import { StoreUnusable } from '../unusable.ts';
import { type Connection, emptyLog, openConnection } from './connection.ts';
import { createWriteEngine } from './engine.ts';
import { createBlockWriter } from './event-blocks.ts';
import { ensureFile, syncDirectory } from './file.ts';
import { takeLock } from './lock.ts';
import { visitorOf } from './visitors.ts';

const rowsPerCommit = 10_000;

/** Where the order and the days go on, and what is not a row of its own. */
const writePosition = (db: Connection, { position, numbers }: Holdings): void => {
  // Of what is remembered, what the blocks would say of it is written with them.
  db.prepare(`
    UPDATE position SET sequence = @sequence, remembered = @sequence, day = @day, clockDay = @clockDay, secret = @secret`).run(
    position,
  );
  const write = db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  for (const [table, greatest] of Object.entries(numbers)) write.run(table, greatest);
};

/** Some of the items together, in their order. */
async function* inParts<Item>(items: Held<Item>, most: number): AsyncGenerator<Item[]> {
  let part: Item[] = [];
  for await (const item of items) {
    if (part.push(item) < most) continue;
    yield part;
    part = [];
  }
  yield part;
}

const copyTables = async (db: Connection, holdings: Holdings): Promise<void> => {
  for (const table of heldTables) {
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const insert = db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
    );
    const insertAll = db.transaction((rows: readonly HeldRow[]) => {
      for (const row of rows) insert.run(row);
    });
    for await (const rows of inParts(holdings.rows(table), rowsPerCommit)) insertAll(rows);
  }
};

/**
 * Writes events, and by name what is known of them by a key alone: whoever erases one has to find it. Keys whose events are
 * not there any more stay.
 */
const createEventCopier = (db: Connection, secret: Buffer) => {
  const blocks = createBlockWriter(db);
  const { eventKey } = createSentKeys(secret);
  const daysKept = new Set(db.prepare<[], number>('SELECT DISTINCT day FROM erased_repeat').pluck().all());
  const dropKey = db.prepare('DELETE FROM erased_repeat WHERE day = ? AND hash = ?');
  const insertName = db.prepare('INSERT INTO event_repeat (day, eventUUID, holder) VALUES (?, ?, ?)');
  return db.transaction((events: readonly HeldEvent[]) => {
    for (const event of events) {
      blocks.add(event);
      const { day, eventUUID } = event;
      if (!daysKept.has(day)) continue;
      const holder = visitorOf(event);
      const { changes } = dropKey.run(day, toBytes(eventKey(holder, eventUUID)));
      if (changes > 0) insertName.run(day, eventUUID, holder);
    }
    blocks.flush();
  });
};

const copyAll = async (db: Connection, holdings: Holdings, tell: (progress: CopyProgress) => void): Promise<void> => {
  writePosition(db, holdings);
  await copyTables(db, holdings);
  const copyEvents = createEventCopier(db, holdings.position.secret);
  const last = holdings.position.sequence;
  let copied = 0;
  for await (const events of holdings.eventsAfter(0)) {
    copyEvents(events);
    copied += events.length;
    tell({ sequence: events.at(-1)?.sequence ?? last, last, events: copied });
  }
  if (db.prepare('PRAGMA foreign_key_check').get() !== undefined) {
    throw new StoreUnusable('the database to copy from is damaged: rows of it refer to others that are not there');
  }
  // As a server would at its start: whoever reads first is not to know millions of events by heart.
  const engine = createWriteEngine(db);
  while (engine.catchUp());
};

/** Makes the file at `path` of all that there is; throws StoreUnusable when there is one. */
export const copyInto = async (
  path: string,
  holdings: Holdings,
  tell: (progress: CopyProgress) => void,
): Promise<void> => {
  // A log that was left behind is read as part of whatever has the name.
  for (const name of [path, `${path}-wal`]) {
    if (existsSync(name)) throw new StoreUnusable(`${name} exists already: a copy never replaces a file`);
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
      await copyAll(db, holdings, tell);
      emptyLog(db);
    } finally {
      db.close();
    }
    const descriptor = openSync(draft, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
    linkSync(draft, path);
    syncDirectory(dirname(path));
  } finally {
    drop();
    unlock();
  }
};
