import { isAbsolute, resolve } from 'node:path';
import type { Store } from './store.ts';
import { StoreUnusable } from './unusable.ts';

export interface StoreOptions {
  /** `sqlite:./data/firsthand.db`, or `sqlite::memory:` for one that goes with the process. */
  readonly databaseURL: string;
  /** `server`: the one that keeps events. `beside`: a command next to it, for accounts, tokens and reads. */
  readonly role: 'server' | 'beside';
  /** It can't be known any more what is on the disk: answer nothing, end the process. */
  readonly onFatal: (error: Error) => void;
}

/** Opens the database that the URL names, making it if it isn't there; throws StoreUnusable when it can't be served. */
export const openStore = async ({ databaseURL, role, onFatal }: StoreOptions): Promise<Store> => {
  const sqlite = /^sqlite:(.+)$/.exec(databaseURL)?.[1];
  if (sqlite === undefined)
    throw new StoreUnusable(`DATABASE_URL must be sqlite:<path>, not ${databaseURL.split(':')[0]}:`);
  const { openBeside, openMemoryStore, openServing } = await import('./sqlite/store.ts');
  if (sqlite === ':memory:') return openMemoryStore();
  const path = isAbsolute(sqlite) ? sqlite : resolve(sqlite);
  return role === 'beside' ? openBeside(path) : openServing(path, onFatal);
};
