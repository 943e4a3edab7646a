/** The store on SQLite: one thread writes, others read, and the main thread only looks up tokens. */
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { AmongOptions, AmongStore, FirstStore } from '../several.ts';
import type { Store } from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccess } from './access.ts';
import { acknowledging } from './acknowledging.ts';
import type { Arrangement } from './arrangement.ts';
import { askingAll, type Call, readNames, writeNames } from './calls.ts';
import { createCommitRelay } from './commit-relay.ts';
import { type Connection, openConnection } from './connection.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';
import { ensureFile } from './file.ts';
import { takeLock, tryLock } from './lock.ts';
import { fromPlain, type Opening, type PlainOutcome, toPlain } from './messages.ts';
import { migrate, newestMigration } from './migrate.ts';
import { packCalls, unpackOutcomes } from './parcels.ts';
import { createRoom } from './room.ts';
import type { Carrier, StartedThread } from './thread.ts';
import { dismissThreads, readerCountOf, type ThreadName, takeThread } from './threads.ts';
import { createWriteQueue } from './write-queue.ts';

type Ask = (call: Call) => Promise<unknown>;

/** A Store from what writes, what reads and what looks up tokens. */
const assemble = (parts: {
  write: Ask;
  read: Ask;
  access: Connection;
  listeners: Pick<Set<() => void>, 'add' | 'delete'>;
  close: () => Promise<void>;
}): Store => {
  const { findAccess, wasMade } = createAccess(parts.access);
  const room = createRoom(parts.access.name);
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
    close: parts.close,
  };
};

/** In memory no thread tidies between writes, so each write does at most this many steps of what is due. */
const stepsPerWriteInMemory = 8;

/** One connection on this thread for all: in memory, and for the `firsthand` command beside a running server. */
const onThisThread = (
  db: Connection,
  { arrangement, stepsPerWrite }: { arrangement: Arrangement | undefined; stepsPerWrite: number },
): Store => {
  const listeners = new Set<() => void>();
  const engine = createWriteEngine(db, arrangement);
  const tidyUp = async () => {
    for (let rest = engine.tidy(); rest !== null; rest = engine.tidy()) await wait(rest);
  };
  const write: Ask = async (call) => {
    const outcomes = engine.write([call]).map(toPlain);
    const value = outcomes.map(fromPlain)[0];
    for (const listener of listeners) listener();
    while (engine.catchUp());
    for (let step = 0; step < stepsPerWrite && engine.tidy() === 0; step += 1);
    if (call.name === 'eraseContact') await tidyUp();
    return value;
  };
  return assemble({
    write,
    read: createReadEngine(db, arrangement),
    access: db,
    listeners,
    close: async () => {
      db.close();
    },
  });
};

export const openMemoryStore = (arrangement?: Arrangement): Store => {
  dismissThreads();
  const db = openConnection(':memory:', 'write');
  migrate(db, ':memory:');
  return onThisThread(db, { arrangement, stepsPerWrite: stepsPerWriteInMemory });
};

/**
 * Next to a server that may be running: takes no lock. For accounts, tokens, refused requests and reads. Only with `create` is a database
 * made where there is none: a path that was mistyped must not look like an empty one.
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
  try {
    if (db.pragma('user_version', { simple: true }) !== newestMigration()) migrateUnserved(db, path);
    return onThisThread(db, { arrangement, stepsPerWrite: 0 });
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

/** Whatever is open, in its order: closed in the opposite one. */
const createOpened = () => {
  const opened: (() => unknown)[] = [];
  return {
    push: (close: () => unknown) => opened.push(close),
    start(name: ThreadName, opening: Opening, onFatal: (error: Error) => void): StartedThread {
      const thread = takeThread(name).open(opening, onFatal);
      opened.push(() => thread.close());
      return thread;
    },
    closeAll: async () => {
      for (const close of opened.splice(0).reverse()) await close();
    },
  };
};

const unservable = (path: string, cause: unknown) =>
  new StoreUnusable(`${path} cannot be served: ${(cause as Error).message}`, { cause });

/** Reads on the threads in turn. */
const readingOn = (readers: readonly StartedThread[]): Ask => {
  let turn = 0;
  return async (call) => {
    turn = (turn + 1) % readers.length;
    const [outcome] = await (readers[turn] as StartedThread).send([call]);
    return fromPlain(outcome as PlainOutcome);
  };
};

/** As what writes to a file: the lock, the writer, and so many threads that read; with none, this thread reads. */
const openWriting = async (opening: Opening, onFatal: (error: Error) => void, readerCount: number) => {
  const { path, arrangement } = opening;
  ensureFile(path);
  const opened = createOpened();
  // The lock first.
  opened.push(takeLock(path));
  try {
    // Open from here on: when the last one closes, SQLite writes the log back, and what opens the file next reads all of it anew.
    const access = openConnection(path, 'read');
    opened.push(() => access.close());
    if (access.pragma('user_version', { simple: true }) !== newestMigration()) migrateFile(path);
    const listeners = new Set<() => void>();
    const tellListeners = () => {
      for (const listener of listeners) listener();
    };
    const writer = opened.start('writer-thread', opening, onFatal);
    const readers = Array.from({ length: readerCount }, () => opened.start('reader-thread', opening, onFatal));
    await Promise.all([writer, ...readers].map(({ ready }) => ready));
    // Again, to be closed before the writer: the last one closed writes the log back, and this one only reads.
    opened.push(() => access.close());
    const queue = createWriteQueue(writer, tellListeners);
    opened.push(() => queue.drain());
    const relay = createCommitRelay(writer, tellListeners);
    opened.push(() => relay.drain());
    const read = readerCount > 0 ? readingOn(readers) : createReadEngine(access, arrangement);
    const store = assemble({ write: queue.ask, read, access, listeners, close: opened.closeAll });
    return { store, commit: relay.commit };
  } catch (error) {
    await opened.closeAll();
    throw unservable(path, error);
  }
};

/**
 * As the one server of a file; throws StoreUnusable when it can't be. `onFatal` is called when it can't be known any more
 * what is on the disk: end the process.
 */
export const openServing = async (opening: Opening, onFatal: (error: Error) => void): Promise<Store> =>
  (await openWriting(opening, onFatal, readerCountOf(1))).store;

/** As openServing, in the process that writes for others. It reads little, so it does that itself. */
export const openFirst = async (path: string, onFatal: (error: Error) => void): Promise<FirstStore> => {
  const first = await openWriting({ path }, onFatal, 0);
  dismissThreads();
  return first;
};

/**
 * Of what waits here while commits are under way, which makes fewer and larger parcels of single events. The rest goes to the
 * first process at once, which bounds what waits of all processes together.
 */
const mostHeldBackBytes = 64 * 1024;
/** Of what goes together to the first process, which keeps or refuses it as a whole. */
const mostBytesTogether = 256 * 1024;

const changesAccess = ({ name }: Call): boolean => name === 'revokeToken' || name === 'updateAccount';

/** In one of several processes beside the one that writes: reads itself, and hands its writes to `commit`. */
export const openAmong = async (
  path: string,
  { processes, commit, onHearing, onFatal }: AmongOptions,
): Promise<AmongStore> => {
  const opened = createOpened();
  try {
    const access = openConnection(path, 'read');
    opened.push(() => access.close());
    if (access.pragma('user_version', { simple: true }) !== newestMigration()) {
      throw new Error('this process is of another version of Firsthand than the one that writes');
    }
    const readers = Array.from({ length: readerCountOf(processes) }, () =>
      opened.start('reader-thread', { path }, onFatal),
    );
    await Promise.all(readers.map(({ ready }) => ready));
    const full: PlainOutcome = { refusal: ['not_kept', { retryAfterSeconds: 1 }] };
    const writer: Carrier = {
      async send(calls, bytes = 0) {
        const outcomes = await commit(packCalls(calls), { bytes, changesAccess: calls.some(changesAccess) });
        return outcomes === undefined ? calls.map(() => full) : unpackOutcomes(calls, outcomes);
      },
    };
    const queue = createWriteQueue(writer, () => {}, { mostHeldBackBytes, mostBytesTogether });
    opened.push(() => queue.drain());
    const listeners = new Set<() => void>();
    const heard = {
      add(listener: () => void) {
        listeners.add(listener);
        if (listeners.size === 1) onHearing(true);
        return listeners;
      },
      delete(listener: () => void) {
        const was = listeners.delete(listener);
        if (was && listeners.size === 0) onHearing(false);
        return was;
      },
    };
    return {
      store: assemble({
        write: queue.ask,
        read: readingOn(readers),
        access,
        listeners: heard,
        close: opened.closeAll,
      }),
      tellCommit() {
        for (const listener of listeners) listener();
      },
    };
  } catch (error) {
    await opened.closeAll();
    throw unservable(path, error);
  }
};
