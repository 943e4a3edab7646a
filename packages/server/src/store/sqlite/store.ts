/** The store on SQLite: one thread writes, others read, and the main thread only looks up tokens. */
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccess } from './access.ts';
import { askingAll, type Call, readNames, writeNames } from './calls.ts';
import { type Connection, openConnection } from './connection.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';
import { ensureFile } from './file.ts';
import { takeLock, tryLock } from './lock.ts';
import { fromPlain, type PlainOutcome, toPlain } from './messages.ts';
import { migrate, newestMigration } from './migrate.ts';
import type { StartedThread } from './thread.ts';
import { dismissThreads, readerCount, type ThreadName, takeThread } from './threads.ts';
import { createWriteQueue } from './write-queue.ts';

type Ask = (call: Call) => Promise<unknown>;

/** A Store from what writes, what reads and what looks up tokens. */
const assemble = (parts: {
  write: Ask;
  read: Ask;
  access: Connection;
  listeners: Set<() => void>;
  close: () => Promise<void>;
}): Store => {
  const { findAccess, wasMade } = createAccess(parts.access);
  return {
    ...askingAll(writeNames, parts.write),
    ...askingAll(readNames, parts.read),
    findAccess: async (tokenHash) => findAccess(tokenHash),
    wasMade: async (tokenHash) => wasMade(tokenHash),
    onCommit(listener) {
      parts.listeners.add(listener);
      return () => parts.listeners.delete(listener);
    },
    close: parts.close,
  };
};

/** One connection on this thread for all: in memory, and for the `firsthand` command beside a running server. */
const onThisThread = (db: Connection): Store => {
  const listeners = new Set<() => void>();
  const engine = createWriteEngine(db);
  const tidyUp = async () => {
    for (let rest = engine.tidy(); rest !== null; rest = engine.tidy()) await wait(rest);
  };
  const write: Ask = async (call) => {
    const outcomes = engine.write([call]).map(toPlain);
    const value = outcomes.map(fromPlain)[0];
    for (const listener of listeners) listener();
    while (engine.catchUp());
    if (call.name === 'eraseContact') await tidyUp();
    return value;
  };
  return assemble({
    write,
    read: createReadEngine(db),
    access: db,
    listeners,
    close: async () => {
      db.close();
    },
  });
};

export const openMemoryStore = (): Store => {
  dismissThreads();
  const db = openConnection(':memory:', 'write');
  migrate(db, ':memory:');
  return onThisThread(db);
};

/**
 * Next to a server that may be running: takes no lock. For accounts, tokens, refused requests and reads. Only with `create` is a database
 * made where there is none: a path that was mistyped must not look like an empty one.
 */
export const openBeside = (path: string, { create }: { create: boolean }): Store => {
  if (!create && !existsSync(path)) {
    throw new StoreUnusable(`there is no database at ${path}: firsthand serve or firsthand account create makes one`);
  }
  ensureFile(path);
  const db = openConnection(path, 'write');
  try {
    if (db.pragma('user_version', { simple: true }) !== newestMigration()) migrateUnserved(db, path);
    return onThisThread(db);
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Under the lock: a server that runs knows only the schema that it has found. */
const migrateUnserved = (db: Connection, path: string): void => {
  const unlock = tryLock(path);
  if (!unlock) {
    throw new StoreUnusable(
      `${path} has an older schema, and a server runs on it: restart that with this Firsthand first`,
    );
  }
  try {
    migrate(db, path);
    // As the server would at its start: whoever reads next is not to know millions of events by heart.
    const engine = createWriteEngine(db);
    while (engine.catchUp());
  } finally {
    unlock();
  }
};

const migrateFile = (path: string): void => {
  const db = openConnection(path, 'write');
  try {
    migrate(db, path);
  } finally {
    db.close();
  }
};

/**
 * As the one server of a file; throws StoreUnusable when it can't be. `onFatal` is called when it can't be known any more
 * what is on the disk: end the process.
 */
export const openServing = async (path: string, onFatal: (error: Error) => void): Promise<Store> => {
  ensureFile(path);
  /** What is open, the lock first: closed in the opposite order. */
  const opened: (() => unknown)[] = [takeLock(path)];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  const start = (name: ThreadName): StartedThread => {
    const thread = takeThread(name).open(path, onFatal);
    opened.push(() => thread.close());
    return thread;
  };
  try {
    // Open from here on: when the last one closes, SQLite writes the log back, and what opens the file next reads all of it anew.
    const access = openConnection(path, 'read');
    opened.push(() => access.close());
    if (access.pragma('user_version', { simple: true }) !== newestMigration()) migrateFile(path);
    const listeners = new Set<() => void>();
    const writer = start('writer-thread');
    const readers = Array.from({ length: readerCount }, () => start('reader-thread'));
    await Promise.all([writer, ...readers].map(({ ready }) => ready));
    // Again, to be closed before the writer: the last one closed writes the log back, and this one only reads.
    opened.push(() => access.close());
    let turn = 0;
    const read: Ask = async (call) => {
      turn = (turn + 1) % readers.length;
      const [outcome] = await (readers[turn] as StartedThread).send([call]);
      return fromPlain(outcome as PlainOutcome);
    };
    const queue = createWriteQueue(writer, () => {
      for (const listener of listeners) listener();
    });
    opened.push(() => queue.drain());
    return assemble({ write: queue.ask, read, access, listeners, close: closeAll });
  } catch (error) {
    await closeAll();
    throw new StoreUnusable(`${path} cannot be served: ${(error as Error).message}`, { cause: error });
  }
};
