/** The SQLite store: one thread writes, others read, and the main thread only looks up tokens. */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCommitMeasures, type StoreMeasures } from '../measures.ts';
import type { UpdateBackup } from '../scheduled-backups.ts';
import type { Store } from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccess } from './accounts/access.ts';
import { type Call, createOperations, readNames, writeNames } from './calls.ts';
import { type Connection, openConnection } from './database/connection.ts';
import { createFileSpaceCheck } from './database/disk-space.ts';
import { ensureFile } from './database/file.ts';
import { prepareLazily } from './database/lazy-statements.ts';
import { takeLock } from './database/lock.ts';
import { openMemory } from './database/memory.ts';
import { getNewestMigration, migrate } from './database/migrate.ts';
import { backUpBeforeUpdate } from './database/update-backup.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';
import { createEraseContact } from './erasure/erase-contact.ts';
import type { Opening } from './threads/messages.ts';
import type { StartedThread } from './threads/thread.ts';
import { readerCount, startReader, startWriter } from './threads/threads.ts';
import { type Outcome, resultOf } from './transactions/transaction.ts';
import { createWriteQueue } from './transactions/write-queue.ts';
import type { Tuning } from './tuning.ts';

type Send = (call: Call) => Promise<unknown>;

/** Returns the size of the file and its write-ahead log, or of the pages in memory. */
const measureStoredBytes = (db: Connection): number => {
  if (!db.memory) {
    const sizes = ['', '-wal'].map((suffix) => statSync(db.name + suffix, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number;
  return pragma('page_count') * pragma('page_size');
};

/** Returns the space that an unprivileged process may use on the file's disk. */
const measureFreeBytes = (db: Connection): number | undefined => {
  if (db.memory) return undefined;
  const { bavail, bsize } = statfsSync(dirname(db.name));
  return bavail * bsize;
};

/** Builds a Store from its write and read functions and the connection for token lookups. */
const assemble = (parts: {
  write: Send;
  read: Send;
  access: Connection;
  listeners: Set<() => void>;
  measure?: () => Omit<StoreMeasures, 'storedBytes' | 'freeBytes'>;
  close: () => Promise<void>;
}): Store => {
  const { findAccess, wasTokenCreated } = createAccess(parts.access);
  const diskSpace = createFileSpaceCheck(parts.access.name);
  const reads = createOperations(readNames, parts.read);
  const write: Send = (call) => {
    const written = parts.write(call);
    written.catch(diskSpace.noteFailure);
    return written;
  };
  return {
    ...createOperations(writeNames, write),
    ...reads,
    eraseContact: createEraseContact(write),
    check: async () => {
      await reads.check();
      await diskSpace.check();
    },
    findAccess: async (tokenHash, time = Date.now()) => findAccess(tokenHash, time),
    wasTokenCreated: async (tokenHash) => wasTokenCreated(tokenHash),
    onCommit(listener) {
      parts.listeners.add(listener);
      return () => void parts.listeners.delete(listener);
    },
    measure: async () => ({
      ...(parts.measure?.() ?? { waitingBytes: 0, waitingCalls: 0 }),
      storedBytes: measureStoredBytes(parts.access),
      freeBytes: measureFreeBytes(parts.access),
    }),
    close: parts.close,
  };
};

/** An in-memory store has no thread for maintenance, so each write runs up to this many maintenance steps. */
const stepsPerWriteInMemory = 8;

/**
 * Creates a Store with one connection on this thread: in memory, or for a `firsthand` command. In a file, the writes of
 * one event-loop turn share a commit.
 */
const createSingleThreadStore = (db: Connection, tuning: Tuning | undefined, stepsPerWrite: number): Store => {
  const listeners = new Set<() => void>();
  const engine = createWriteEngine(db, tuning);
  const maintainAll = async () => {
    for (let rest = engine.maintain(); rest !== null; rest = engine.maintain()) await wait(rest);
  };
  const notifyListeners = () => {
    for (const listener of listeners) listener();
  };
  const send = async (calls: readonly Call[]): Promise<Outcome[]> => {
    const outcomes = engine.write(calls);
    while (engine.catchUp());
    for (let step = 0; step < stepsPerWrite && engine.maintain() === 0; step += 1);
    if (calls.some(({ name }) => name === 'eraseContact')) await maintainAll();
    return outcomes;
  };
  const writeAlone: Send = async (call) => {
    const [outcome] = await send([call]);
    const value = resultOf(outcome as Outcome);
    notifyListeners();
    return value;
  };
  const queue = db.memory ? undefined : createWriteQueue({ send }, notifyListeners);
  return assemble({
    write: queue?.enqueue ?? writeAlone,
    read: createReadEngine(db, tuning),
    access: db,
    listeners,
    async close() {
      await queue?.drain();
      db.close();
    },
  });
};

export const openMemoryStore = (tuning?: Tuning): Store =>
  createSingleThreadStore(openMemory(), tuning, stepsPerWriteInMemory);

/**
 * Opens a database for a command, without a lock, because a server may be running. Supports accounts, tokens, refused
 * requests and reads. Creates a missing database only with `create`: a mistyped path must not look like an empty
 * database.
 *
 * Does not migrate an older schema, because only the server's log durably records where the backup made before the
 * update is.
 */
export const openForCommand = (
  path: string,
  { create, tuning }: { create: boolean; tuning?: Tuning | undefined },
): Store => {
  if (!create && !existsSync(path)) {
    throw new StoreUnusable(
      `there is no database at ${path}: create it with firsthand serve or firsthand account create`,
    );
  }
  ensureFile(path);
  const db = openConnection(path, 'write');
  prepareLazily(db);
  try {
    if (db.pragma('user_version', { simple: true }) !== getNewestMigration()) {
      throw new StoreUnusable(
        `${path} has an older schema: start the server with this version of Firsthand first; it backs up the database and updates it`,
      );
    }
    return createSingleThreadStore(db, tuning, 0);
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

/** Tracks open resources and closes them in reverse order. */
const createCloseStack = () => {
  const opened: (() => unknown)[] = [];
  return {
    push: (close: () => unknown) => opened.push(close),
    closeAll: async () => {
      for (const close of opened.splice(0).reverse()) await close();
    },
  };
};

/** Distributes reads over the threads, round-robin. */
const createReadDispatcher = (readers: readonly StartedThread[]): Send => {
  let turn = 0;
  return async (call) => {
    turn = (turn + 1) % readers.length;
    const [outcome] = await (readers[turn] as StartedThread).send([call]);
    return resultOf(outcome as Outcome);
  };
};

/**
 * Opens a file as its only server. Throws StoreUnusable on failure. `onFatal` is called when the state on disk is
 * unknown; the process must then exit.
 */
export const openForServer = async (
  opening: Opening,
  onFatal: (error: Error) => void,
  updateBackup?: UpdateBackup,
): Promise<Store> => {
  const { path } = opening;
  ensureFile(path);
  const opened = createCloseStack();
  // Takes the lock first, so that it is released last.
  opened.push(takeLock(path));
  try {
    // Stays open, so that SQLite does not checkpoint and delete the write-ahead log when a connection closes during
    // startup.
    const access = openConnection(path, 'read');
    opened.push(() => access.close());
    if (access.pragma('user_version', { simple: true }) !== getNewestMigration()) migrateFile(path, updateBackup);
    const listeners = new Set<() => void>();
    const commits = createCommitMeasures();
    // Registered immediately, because the next thread may fail to start.
    const closeLater = (thread: StartedThread) => {
      opened.push(() => thread.close());
      return thread;
    };
    const measureCommit = (seconds: number, statementSeconds: number) => {
      commits.seconds.add(seconds);
      commits.statementSeconds.add(statementSeconds);
    };
    const writer = closeLater(startWriter(opening, onFatal, measureCommit));
    const readers = Array.from({ length: readerCount }, () => closeLater(startReader(opening, onFatal)));
    await Promise.all([writer, ...readers].map(({ ready }) => ready));
    // Registered again, so that it is closed before the writer: the last connection to close checkpoints the log, and
    // this one is read-only.
    opened.push(() => access.close());
    const notifyListeners = () => {
      for (const listener of listeners) listener();
    };
    const queue = createWriteQueue(writer, notifyListeners, commits.events.add);
    const measure = () => ({ ...queue.measure(), commits });
    opened.push(() => queue.drain());
    return assemble({
      write: queue.enqueue,
      read: createReadDispatcher(readers),
      access,
      listeners,
      measure,
      close: opened.closeAll,
    });
  } catch (cause) {
    await opened.closeAll();
    throw new StoreUnusable(`${path} cannot be served: ${(cause as Error).message}`, { cause });
  }
};
