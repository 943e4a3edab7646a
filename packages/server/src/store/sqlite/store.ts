/** The store on SQLite: one thread writes, others read, and the main thread only looks up tokens. */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCommitMeasures, type StoreMeasures } from '../measures.ts';
import type { UpdateBackup } from '../scheduled-backups.ts';
import type { Store } from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccess } from './accounts/access.ts';
import type { Arrangement } from './arrangement.ts';
import { askingAll, type Call, readNames, writeNames } from './calls.ts';
import { type Connection, openConnection } from './database/connection.ts';
import { createFileRoom } from './database/disk-space.ts';
import { ensureFile } from './database/file.ts';
import { prepareLazily } from './database/lazy-statements.ts';
import { takeLock } from './database/lock.ts';
import { openMemory } from './database/memory.ts';
import { migrate, newestMigration } from './database/migrate.ts';
import { backUpBeforeUpdate } from './database/update-backup.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';
import { acknowledging } from './erasure/acknowledging.ts';
import type { Opening } from './threads/messages.ts';
import type { StartedThread } from './threads/thread.ts';
import { readerCount, startReader, startWriter } from './threads/threads.ts';
import { type Outcome, resultOf } from './transactions/transaction.ts';
import { createWriteQueue } from './transactions/write-queue.ts';

type Ask = (call: Call) => Promise<unknown>;

/** The bytes of the file and its log, or of the pages in memory. Reads no rows. */
const storedBytesOf = (db: Connection): number => {
  if (!db.memory) {
    const sizes = ['', '-wal'].map((suffix) => statSync(db.name + suffix, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number;
  return pragma('page_count') * pragma('page_size');
};

/** The room that a process without root's rights may use on the disk of the file. */
const freeBytesOf = (db: Connection): number | undefined => {
  if (db.memory) return undefined;
  const { bavail, bsize } = statfsSync(dirname(db.name));
  return bavail * bsize;
};

/** Builds a Store from its write and read functions and the connection that looks up tokens. */
const assemble = (parts: {
  write: Ask;
  read: Ask;
  access: Connection;
  listeners: Set<() => void>;
  measure?: () => Omit<StoreMeasures, 'storedBytes' | 'freeBytes'>;
  close: () => Promise<void>;
}): Store => {
  const { findAccess, wasMade } = createAccess(parts.access);
  const room = createFileRoom(parts.access.name);
  const reads = askingAll(readNames, parts.read);
  const write: Ask = (call) => {
    const written = parts.write(call);
    written.catch(room.noteFailure);
    return written;
  };
  return {
    ...askingAll(writeNames, write),
    ...reads,
    eraseContact: acknowledging(write),
    check: async () => {
      await reads.check();
      await room.check();
    },
    findAccess: async (tokenHash, time = Date.now()) => findAccess(tokenHash, time),
    wasMade: async (tokenHash) => wasMade(tokenHash),
    onCommit(listener) {
      parts.listeners.add(listener);
      return () => void parts.listeners.delete(listener);
    },
    measure: async () => ({
      ...(parts.measure?.() ?? { waitingBytes: 0, waitingCalls: 0 }),
      storedBytes: storedBytesOf(parts.access),
      freeBytes: freeBytesOf(parts.access),
    }),
    close: parts.close,
  };
};

/** In memory no thread does maintenance between writes, so each write runs at most this many steps of maintenance. */
const stepsPerWriteInMemory = 8;

/**
 * A Store with one connection, on this thread: in memory, and for the `firsthand` command beside a running server. In a file, the writes
 * of one turn share a commit.
 */
const onThisThread = (db: Connection, arrangement: Arrangement | undefined, stepsPerWrite: number): Store => {
  const listeners = new Set<() => void>();
  const engine = createWriteEngine(db, arrangement);
  const maintainAll = async () => {
    for (let rest = engine.maintain(); rest !== null; rest = engine.maintain()) await wait(rest);
  };
  const tellAll = () => {
    for (const listener of listeners) listener();
  };
  const send = async (calls: readonly Call[]): Promise<Outcome[]> => {
    const outcomes = engine.write(calls);
    while (engine.catchUp());
    for (let step = 0; step < stepsPerWrite && engine.maintain() === 0; step += 1);
    if (calls.some(({ name }) => name === 'eraseContact')) await maintainAll();
    return outcomes;
  };
  const writeAlone: Ask = async (call) => {
    const [outcome] = await send([call]);
    const value = resultOf(outcome as Outcome);
    tellAll();
    return value;
  };
  const queue = db.memory ? undefined : createWriteQueue({ send }, tellAll);
  return assemble({
    write: queue?.ask ?? writeAlone,
    read: createReadEngine(db, arrangement),
    access: db,
    listeners,
    async close() {
      await queue?.drain();
      db.close();
    },
  });
};

export const openMemoryStore = (arrangement?: Arrangement): Store =>
  onThisThread(openMemory(), arrangement, stepsPerWriteInMemory);

/**
 * Opens a database beside a server that may be running: takes no lock. For accounts, tokens, refused requests and reads. Only with
 * `create` a missing database is created: a mistyped path must not look like an empty database. An older schema stays as it is: the
 * server's log names the backup that it makes before an update, and a command's output is soon lost.
 */
export const openBeside = (
  path: string,
  { create, arrangement }: { create: boolean; arrangement?: Arrangement | undefined },
): Store => {
  if (!create && !existsSync(path)) {
    throw new StoreUnusable(`there is no database at ${path}: firsthand serve or firsthand account create makes one`);
  }
  ensureFile(path);
  const db = openConnection(path, 'write');
  prepareLazily(db);
  try {
    if (db.pragma('user_version', { simple: true }) !== newestMigration()) {
      throw new StoreUnusable(
        `${path} has an older schema: start the server with this version of Firsthand first, which makes a backup and updates it`,
      );
    }
    return onThisThread(db, arrangement, 0);
  } catch (error) {
    db.close();
    throw error;
  }
};

const migrateFile = (path: string, updateBackup: UpdateBackup | undefined): void => {
  backUpBeforeUpdate(path, updateBackup);
  const db = openConnection(path, 'write');
  try {
    migrate(db, path);
  } finally {
    db.close();
  }
};

/** The open lock, connections and threads, in the order of opening. `closeAll` closes them in reverse. */
const createOpened = () => {
  const opened: (() => unknown)[] = [];
  return {
    push: (close: () => unknown) => opened.push(close),
    closeAll: async () => {
      for (const close of opened.splice(0).reverse()) await close();
    },
  };
};

/** Sends reads to the threads in turn. */
const readingOn = (readers: readonly StartedThread[]): Ask => {
  let turn = 0;
  return async (call) => {
    turn = (turn + 1) % readers.length;
    const [outcome] = await (readers[turn] as StartedThread).send([call]);
    return resultOf(outcome as Outcome);
  };
};

/**
 * Opens a file as its only server; throws StoreUnusable when that fails. `onFatal` is called when the state on the disk can no
 * longer be known: end the process.
 */
export const openServing = async (
  opening: Opening,
  onFatal: (error: Error) => void,
  updateBackup?: UpdateBackup,
): Promise<Store> => {
  const { path } = opening;
  ensureFile(path);
  const opened = createOpened();
  // The lock comes first, so that it is released last.
  opened.push(takeLock(path));
  try {
    // Stays open: when the last connection closes, SQLite writes the log back, and the next one to open the file reads all of it
    // again.
    const access = openConnection(path, 'read');
    opened.push(() => access.close());
    if (access.pragma('user_version', { simple: true }) !== newestMigration()) migrateFile(path, updateBackup);
    const listeners = new Set<() => void>();
    const commits = createCommitMeasures();
    // Each at once: the next thread may fail to start.
    const closedLater = (thread: StartedThread) => {
      opened.push(() => thread.close());
      return thread;
    };
    const measureCommit = (seconds: number, statementSeconds: number) => {
      commits.seconds.add(seconds);
      commits.statementSeconds.add(statementSeconds);
    };
    const writer = closedLater(startWriter(opening, onFatal, measureCommit));
    const readers = Array.from({ length: readerCount }, () => closedLater(startReader(opening, onFatal)));
    await Promise.all([writer, ...readers].map(({ ready }) => ready));
    // Pushed a second time, to be closed before the writer: the last connection that closes writes the log back, and this one can
    // only read.
    opened.push(() => access.close());
    const tellAll = () => {
      for (const listener of listeners) listener();
    };
    const queue = createWriteQueue(writer, tellAll, commits.events.add);
    const measure = () => ({ ...queue.measure(), commits });
    opened.push(() => queue.drain());
    return assemble({ write: queue.ask, read: readingOn(readers), access, listeners, measure, close: opened.closeAll });
  } catch (cause) {
    await opened.closeAll();
    throw new StoreUnusable(`${path} cannot be served: ${(cause as Error).message}`, { cause });
  }
};
