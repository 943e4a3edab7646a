/** The store on SQLite: one thread writes, others read, and the main thread only looks up tokens. */
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../store.ts';
import { createAccess } from './access.ts';
import { type Connection, openConnection } from './connection.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';
import { ensureFile } from './file.ts';
import { takeLock } from './lock.ts';
import { fromPlain, toPlain } from './messages.ts';
import { migrate } from './migrate.ts';
import { startThread } from './thread.ts';
import { createWriteQueue } from './write-queue.ts';

const writes = [
  'createAccount',
  'updateAccount',
  'createToken',
  'revokeToken',
  'logEvents',
  'createContact',
  'updateContact',
  'linkUser',
  'unlinkUser',
  'voidLinks',
  'acceptClaim',
  'voidClaim',
  'mergeContact',
  'unmergeContact',
  'eraseContact',
  'deleteEventsBefore',
] as const;

const reads = [
  'listAccounts',
  'findAccount',
  'findProofKeys',
  'getAccount',
  'getContact',
  'searchContact',
  'getEvents',
  'countEvents',
  'getEventDefinitions',
  'check',
] as const;

type Ask = (call: { name: string; request: unknown }) => Promise<unknown>;

/** A Store from what writes, what reads and what looks up tokens. */
const assemble = (parts: {
  write: Ask;
  read: Ask;
  access: Connection;
  listeners: Set<() => void>;
  close: () => Promise<void>;
}): Store => {
  const { findAccess } = createAccess(parts.access);
  const through = (ask: Ask, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, (request: unknown) => ask({ name, request })]));
  return {
    ...through(parts.write, writes),
    ...through(parts.read, reads),
    findAccess: async (tokenHash) => findAccess(tokenHash),
    onCommit(listener) {
      parts.listeners.add(listener);
      return () => parts.listeners.delete(listener);
    },
    close: parts.close,
  } as Partial<Store> as Store;
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
  const db = openConnection(':memory:', 'write');
  migrate(db, ':memory:');
  return onThisThread(db);
};

/** Next to a server that may be running: takes no lock. For accounts, tokens and reads. */
export const openBeside = (path: string): Store => {
  ensureFile(path);
  const db = openConnection(path, 'write');
  migrate(db, path);
  return onThisThread(db);
};

/** As the one server of a file. `onFatal` is called when it can't be known what is on the disk: end the process. */
export const openServing = async (path: string, onFatal: (error: Error) => void): Promise<Store> => {
  ensureFile(path);
  const unlock = takeLock(path);
  try {
    const db = openConnection(path, 'write');
    migrate(db, path);
    db.close();
    const listeners = new Set<() => void>();
    const writer = startThread(new URL('./writer-thread.ts', import.meta.url), path, onFatal);
    const readers = Array.from({ length: Math.max(1, Math.min(4, availableParallelism() - 1)) }, () =>
      startThread(new URL('./reader-thread.ts', import.meta.url), path, onFatal),
    );
    const access = openConnection(path, 'read');
    let turn = 0;
    const read: Ask = (call) => {
      turn = (turn + 1) % readers.length;
      return (readers[turn] as (typeof readers)[number]).send([call])[0] as Promise<unknown>;
    };
    const queue = createWriteQueue(writer, () => {
      for (const listener of listeners) listener();
    });
    await Promise.all(readers.map((reader) => reader.send([{ name: 'check', request: undefined }])[0]));
    return assemble({
      write: queue.ask,
      read,
      access,
      listeners,
      async close() {
        await queue.drain();
        await Promise.all(readers.map((reader) => reader.close()));
        access.close();
        await writer.close();
        unlock();
      },
    });
  } catch (error) {
    unlock();
    throw error;
  }
};
