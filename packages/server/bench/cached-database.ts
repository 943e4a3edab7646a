/**
 * Caches databases that take long to build in the system's temporary folder. Changes to the store's sources or to the
 * code that builds the databases invalidate the cache.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whole } from './table.ts';

const folder = join(tmpdir(), 'firsthand-bench');
const unusedMilliseconds = 2 * 3_600_000;
const builders = ['visits.ts', 'account.ts', 'history.ts', 'stored-contacts.ts', 'search-contacts.ts'];

const hashSources = async (): Promise<string> => {
  const store = fileURLToPath(new URL('../src/store/', import.meta.url));
  const names = (await readdir(store, { recursive: true })).filter((name) => /(?<!\.test)\.(ts|js|sql)$/.test(name));
  const paths = names.map((name) => join(store, name));
  paths.push(...builders.map((name) => fileURLToPath(new URL(name, import.meta.url))));
  const hash = createHash('sha256');
  for (const path of paths.sort()) hash.update(await readFile(path));
  return hash.digest('hex').slice(0, 12);
};

/** The time of the last change or use; the current time if another process is deleting the folder. */
const lastUse = async (path: string): Promise<number> => {
  try {
    const paths = [path, ...(await readdir(path)).map((name) => join(path, name))];
    return Math.max(...(await Promise.all(paths.map((each) => stat(each)))).map(({ mtimeMs }) => mtimeMs));
  } catch {
    return Date.now();
  }
};

/** Deletes databases that have been unused for two hours, so that the disk does not fill up. */
const deleteUnused = async (): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (Date.now() - (await lastUse(path)) > unusedMilliseconds) await rm(path, { recursive: true, force: true });
  }
};

export interface CachedDatabase<About> {
  /** The database's path. Only one process at a time may read it; use `withCopy` to write. */
  readonly path: string;
  readonly folder: string;
  readonly about: About;
}

/** Opens or builds the database with this name. `build` returns a description to store with it. */
export const openCached = async <About>(
  name: string,
  build: (path: string) => Promise<About>,
): Promise<CachedDatabase<About>> => {
  await mkdir(folder, { recursive: true });
  await deleteUnused();
  const target = join(folder, `${name}-${await hashSources()}`);
  const aboutFile = join(target, 'about.json');
  const text = await readFile(aboutFile, 'utf8').catch(() => undefined);
  if (text !== undefined) {
    await utimes(target, new Date(), new Date());
    return { path: join(target, 'firsthand.db'), folder: target, about: JSON.parse(text) as About };
  }
  const draft = await mkdtemp(join(folder, 'building-'));
  const startTime = Date.now();
  try {
    const about = await build(join(draft, 'firsthand.db'));
    await writeFile(join(draft, 'about.json'), JSON.stringify(about));
    console.log(`(built ${name} in ${whole((Date.now() - startTime) / 1000)} s: ${target})\n`);
    // Fails if another process was faster. In that case, uses that process's database.
    await rename(draft, target).catch(() => rm(draft, { recursive: true }));
    return { path: join(target, 'firsthand.db'), folder: target, about };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
};

const isDatabaseFile = (name: string): boolean => name.startsWith('firsthand.db');

/** The total size of the database's files in the folder. */
export const sumFileSizes = async (inFolder: string): Promise<number> => {
  const names = (await readdir(inFolder)).filter(isDatabaseFile);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(inFolder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** Syncs a copy, so that the measurement does not wait for disk writes. */
const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Calls `use` with a writable copy of the database, which is deleted afterwards. */
export const withCopy = async <Value>(
  { folder: from }: { readonly folder: string },
  use: (path: string, folder: string) => Promise<Value>,
): Promise<Value> => {
  const copy = await mkdtemp(join(folder, 'copy-'));
  try {
    for (const name of (await readdir(from)).filter(isDatabaseFile)) {
      await copyFile(join(from, name), join(copy, name), constants.COPYFILE_FICLONE);
      await sync(join(copy, name));
    }
    return await use(join(copy, 'firsthand.db'), copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
};

/** Calls `use` with a new folder, which is deleted afterwards. */
export const inFolder = async <Value>(use: (folder: string) => Promise<Value>): Promise<Value> => {
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, 'copy-'));
  try {
    return await use(temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
};
